package wiretrial.driver;

/** The command line is wrong; the message says how. */
final class UsageException extends Exception {
    private static final long serialVersionUID = 1L;

    UsageException(String message) {
        super(message);
    }
}
