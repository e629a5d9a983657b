package stepbox.runner;

import java.util.Map;
import java.util.function.Consumer;

/** Lines that the agent takes: what is too long for one is cut or left out, and that is said. */
final class Lengths {
    /** Bytes of all formats of a result: the agent ends a runner that sends 64 MiB in a line. */
    private static final int FORMATS_MAX = 50 * 1024 * 1024;

    /** Characters of a text that was cut; each takes six bytes at most. */
    private static final int TEXT_MAX = 1024 * 1024;

    private Lengths() {}

    static String cut(String text) {
        return text.length() <= TEXT_MAX
                ? text
                : text.substring(0, TEXT_MAX) + "... (" + text.length() + " characters)";
    }

    /** Makes the formats, which are JSON, fit: cuts the text, and leaves out the longest others. */
    static void fit(Map<String, CharSequence> formats, String text, Consumer<String> note) {
        if (length(formats) > FORMATS_MAX) {
            formats.put("text", JsonWriter.quote(new StringBuilder(), cut(text)));
        }
        while (length(formats) > FORMATS_MAX) {
            String longest = "";
            for (String name : formats.keySet()) {
                if (longest.isEmpty()
                        || formats.get(name).length() > formats.get(longest).length()) {
                    longest = name;
                }
            }
            int length = formats.remove(longest).length();
            note.accept("A result is too long: without " + longest + " of " + length + " bytes");
        }
    }

    private static long length(Map<String, CharSequence> formats) {
        return formats.values().stream().mapToLong(CharSequence::length).sum();
    }
}
