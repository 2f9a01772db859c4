package wiretrial.subjects.table;

import java.util.HashMap;
import java.util.Map;

/** The command line: {@code --name value}, and {@code --name} alone for a switch. */
record Options(String host, int port, int styxPort, int threads, boolean tuned) {
    static Options read(String[] words) {
        Map<String, String> flags = new HashMap<>();
        for (int at = 0; at < words.length; at++) {
            if (!words[at].startsWith("--")) {
                throw new IllegalArgumentException(words[at] + " is no flag");
            }
            boolean alone = at + 1 == words.length || words[at + 1].startsWith("--");
            flags.put(words[at].substring(2), alone ? "" : words[++at]);
        }
        return new Options(
                text(flags, "host"),
                number(flags, "port"),
                number(flags, "styx-port"),
                number(flags, "threads"),
                flags.containsKey("tuned"));
    }

    private static String text(Map<String, String> flags, String name) {
        String value = flags.get(name);
        if (value == null || value.isEmpty()) {
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
