package wiretrial.server;

import java.nio.file.Path;

/** What a server is told on its command line; {@code --tuned} stands alone. */
public record Options(
        String host, int port, int tlsPort, Path cert, Path key, int threads, boolean tuned) {

    /** Reads it; ends the process where it is wrong. */
    public static Options readOrExit(String[] words) {
        return Flags.readOrExit(words, Options::of);
    }

    private static Options of(Flags flags) {
        return new Options(
                flags.text("host"),
                flags.number("port"),
                flags.number("tls-port"),
                Path.of(flags.text("cert")),
                Path.of(flags.text("key")),
                flags.number("threads"),
                flags.has("tuned"));
    }
}
