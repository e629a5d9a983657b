package stepbox.runner;

import java.util.Arrays;

/** What a result line says of a value. */
final class Results {
    private Results() {}

    /** The line. On the code's thread: texts of values are the code's own methods. */
    static String describe(Object value) {
        JsonWriter line = JsonWriter.ofType("result").text("text", text(value));
        String json = JsonValue.ofCollection(value);
        if (json != null) {
            line.json("json", json);
        }
        return line.json("extra", "{}").json("is_main_result", "true").toString();
    }

    /** As String.valueOf() has it, but for arrays, which show what is in them. */
    private static String text(Object value) {
        if (value == null || !value.getClass().isArray()) {
            return String.valueOf(value);
        }
        String inBrackets = Arrays.deepToString(new Object[] {value});
        return inBrackets.substring(1, inBrackets.length() - 1);
    }
}
