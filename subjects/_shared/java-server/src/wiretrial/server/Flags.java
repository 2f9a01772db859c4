package wiretrial.server;

import java.util.HashMap;
import java.util.Map;
import java.util.function.Function;

/**
 * A command line: {@code --name value}, and {@code --name} alone for a switch.
 *
 * <p>Knows words; must not know what they mean.
 */
public final class Flags {
    private final Map<String, String> values = new HashMap<>();

    private Flags(String[] words) {
        for (int at = 0; at < words.length; at++) {
            if (!words[at].startsWith("--")) {
                throw new IllegalArgumentException(words[at] + " is no flag");
            }
            boolean alone = at + 1 == words.length || words[at + 1].startsWith("--");
            values.put(words[at].substring(2), alone ? "" : words[++at]);
        }
    }

    /** What {@code read} makes of the words; ends the process where they are wrong. */
    public static <T> T readOrExit(String[] words, Function<Flags, T> read) {
        try {
            return read.apply(new Flags(words));
        } catch (IllegalArgumentException error) {
            System.err.println("server: " + error.getMessage());
            System.exit(2);
            throw error;
        }
    }

    /** Whether the flag is there. */
    public boolean has(String name) {
        return values.containsKey(name);
    }

    /** A flag's value, without which nothing can be served. */
    public String text(String name) {
        String value = values.getOrDefault(name, "");
        if (value.isEmpty()) {
            throw new IllegalArgumentException("--" + name + " is needed");
        }
        return value;
    }

    /** Likewise, a number. */
    public int number(String name) {
        String value = text(name);
        try {
            return Integer.parseInt(value);
        } catch (NumberFormatException error) {
            throw new IllegalArgumentException("--" + name + " " + value + " is no number");
        }
    }
}
