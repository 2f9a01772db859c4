package wiretrial.subjects.table;

/** Bytes that are no packet. */
final class NoPacket extends Exception {
    private static final long serialVersionUID = 1L;

    NoPacket(String why) {
        // Nobody reads where it came from, and there may be many.
        super(why, null, false, false);
    }
}
