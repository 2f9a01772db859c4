package wiretrial.driver;

/** One object on one line. */
final class JsonLine {
    private final StringBuilder line = new StringBuilder("{");

    JsonLine number(String name, Number value) {
        name(name).append(value);
        return this;
    }

    JsonLine text(String name, String value) {
        if (value == null) {
            return number(name, null);
        }
        name(name).append('"');
        value.chars().forEach(this::character);
        line.append('"');
        return this;
    }

    String end() {
        return line.append('}').toString();
    }

    private StringBuilder name(String name) {
        return line.append(line.length() > 1 ? ", \"" : "\"").append(name).append("\": ");
    }

    private void character(int character) {
        if (character == '"' || character == '\\') {
            line.append('\\').append((char) character);
        } else if (character < ' ') {
            line.append(String.format("\\u%04x", character));
        } else {
            line.append((char) character);
        }
    }
}
