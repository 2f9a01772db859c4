package wiretrial.server;

import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;

/**
 * The command line of a server: {@code --name value}, and {@code --tuned} alone.
 *
 * <p>Knows words; must not know any library.
 */
public record Options(
        String host, int port, int tlsPort, Path cert, Path key, int threads, boolean tuned) {

    /** Reads it; ends the process where it is wrong. */
    public static Options readOrExit(String[] words) {
        try {
            return read(words);
        } catch (IllegalArgumentException error) {
            System.err.println("server: " + error.getMessage());
            System.exit(2);
            throw error;
        }
    }

    private static Options read(String[] words) {
        Map<String, String> flags = new HashMap<>();
        boolean tuned = false;
        for (int at = 0; at < words.length; at++) {
            if (words[at].equals("--tuned")) {
                tuned = true;
                continue;
            }
            if (!words[at].startsWith("--") || at + 1 == words.length) {
                throw new IllegalArgumentException(words[at] + " is no flag with a value");
            }
            flags.put(words[at].substring(2), words[++at]);
        }
        return new Options(
                text(flags, "host"),
                number(flags, "port"),
                number(flags, "tls-port"),
                Path.of(text(flags, "cert")),
                Path.of(text(flags, "key")),
                number(flags, "threads"),
                tuned);
    }

    private static String text(Map<String, String> flags, String name) {
        String value = flags.get(name);
        if (value == null) {
            throw new IllegalArgumentException("--" + name + " is needed");
        }
        return value;
    }

    private static int number(Map<String, String> flags, String name) {
        String value = text(flags, name);
        try {
            return Integer.parseInt(value);
        } catch (NumberFormatException error) {
            throw new IllegalArgumentException("--" + name + " " + value + " is no number");
        }
    }
}
