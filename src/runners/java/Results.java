package stepbox.runner;

import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Consumer;

/** What a result line says of a value. */
final class Results {
    private Results() {}

    /**
     * The line. On the code's thread: texts of values are the code's own methods. What makes it too
     * long is left out, and noted.
     */
    static String describe(Object value, Consumer<String> note) {
        Map<String, CharSequence> formats = new LinkedHashMap<>();
        String text = text(value);
        formats.put("text", quoted(text));
        String png = Pictures.png(value);
        if (png != null) {
            formats.put("png", quoted(png));
        }
        String json = JsonValue.ofCollection(value);
        if (json != null) {
            formats.put("json", json);
        }
        Lengths.fit(formats, text, note);
        JsonWriter line = JsonWriter.ofType("result");
        formats.forEach(line::json);
        return line.json("extra", "{}").json("is_main_result", "true").toString();
    }

    private static CharSequence quoted(String text) {
        return JsonWriter.quote(new StringBuilder(text.length() + 2), text);
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
