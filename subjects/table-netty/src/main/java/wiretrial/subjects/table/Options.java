package wiretrial.subjects.table;

import wiretrial.server.Flags;

/** What the server is told on its command line; {@code --tuned} stands alone. */
record Options(String host, int port, int styxPort, int threads, boolean tuned) {
    static Options of(Flags flags) {
        return new Options(
                flags.text("host"),
                flags.number("port"),
                flags.number("styx-port"),
                flags.number("threads"),
                flags.has("tuned"));
    }
}
