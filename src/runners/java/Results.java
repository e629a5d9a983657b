package stepbox.runner;

import java.util.Arrays;

/** What a result line says of a value. */
final class Results {
    /** Bytes that the agent takes in a line. */
    private static final int LINE_MAX = 64 * 1024 * 1024 - 1;

    private Results() {}

    /** The line. On the code's thread: texts of values are the code's own methods. */
    static String describe(Object value) {
        JsonWriter line = JsonWriter.ofType("result").text("text", text(value));
        String json = JsonValue.ofCollection(value);
        if (json != null) {
            line.json("json", json);
        }
        String whole = line.json("extra", "{}").json("is_main_result", "true").toString();
        if (whole.length() > LINE_MAX) {
            throw new IllegalStateException(whole.length() + " bytes are too many for a result");
        }
        return whole;
    }

    /** As String.valueOf() has it, but for arrays, which show what is in them. */
    private static String text(Object value) {
        if (value instanceof String) {
            return (String) value;
        }
        if (value == null || !value.getClass().isArray()) {
            String text = String.valueOf(value);
            return text == null ? "null" : Location.withoutWrappers(text);
        }
        String inBrackets = Arrays.deepToString(new Object[] {value});
        return Location.withoutWrappers(inBrackets.substring(1, inBrackets.length() - 1));
    }
}
