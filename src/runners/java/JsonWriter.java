package stepbox.runner;

/** One line of JSON in ASCII: an object whose members are added in order. */
final class JsonWriter {
    private static final String HEX = "0123456789abcdef";

    private final StringBuilder line = new StringBuilder("{");

    /** An object whose first member is its type. */
    static JsonWriter ofType(String type) {
        return new JsonWriter().text("type", type);
    }

    /** A member whose value is JSON already. */
    JsonWriter json(String name, CharSequence value) {
        if (line.length() > 1) {
            line.append(", ");
        }
        quote(line, name);
        line.append(": ").append(value);
        return this;
    }

    JsonWriter text(String name, String value) {
        return json(name, quote(new StringBuilder(value.length() + 2), value));
    }

    @Override
    public String toString() {
        return line + "}";
    }

    private static boolean isLoneSurrogate(CharSequence text, int at) {
        char character = text.charAt(at);
        if (Character.isHighSurrogate(character)) {
            return at + 1 == text.length() || !Character.isLowSurrogate(text.charAt(at + 1));
        }
        return Character.isLowSurrogate(character)
                && (at == 0 || !Character.isHighSurrogate(text.charAt(at - 1)));
    }

    /** Appends the text as a JSON string; half a pair of surrogates becomes U+FFFD. */
    static StringBuilder quote(StringBuilder to, CharSequence text) {
        to.append('"');
        for (int i = 0; i < text.length(); i++) {
            char character = text.charAt(i);
            if (character == '"' || character == '\\') {
                to.append('\\').append(character);
            } else if (character == '\n') {
                to.append("\\n");
            } else if (character >= ' ' && character < 127) {
                to.append(character);
            } else {
                char shown = isLoneSurrogate(text, i) ? '\ufffd' : character;
                to.append("\\u");
                for (int shift = 12; shift >= 0; shift -= 4) {
                    to.append(HEX.charAt(shown >> shift & 15));
                }
            }
        }
        return to.append('"');
    }
}
