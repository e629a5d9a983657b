package stepbox.runner;

import java.lang.reflect.Array;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.RecordComponent;
import java.util.Collection;
import java.util.Map;

/**
 * The JSON form of collections, arrays, maps and records.
 *
 * <p>The agent reads lines with a strict parser: integers of 64 bits, finite numbers, no deep
 * nesting. A value with a part that has no such form has none.
 */
final class JsonValue {
    private static final int MAX_DEPTH = 254;

    /** Lists that share parts may be small, and yet endless when written out. */
    private static final int MAX_LENGTH = 32 * 1024 * 1024;

    /** The value has no JSON form. */
    private static final class NotJson extends Exception {
        private static final long serialVersionUID = 1;
    }

    private final StringBuilder text = new StringBuilder();

    private JsonValue() {}

    /** Null when the value is none of these, or has no JSON form. */
    static String ofCollection(Object value) {
        if (!(value instanceof Collection)
                && !(value instanceof Map)
                && !(value instanceof Record)
                && (value == null || !value.getClass().isArray())) {
            return null;
        }
        JsonValue json = new JsonValue();
        try {
            json.append(value, 0);
        } catch (NotJson | RuntimeException e) {
            return null; // also when the code's own iteration fails
        }
        return json.text.toString();
    }

    private void append(Object value, int depth) throws NotJson {
        if (depth > MAX_DEPTH || text.length() > MAX_LENGTH) {
            throw new NotJson();
        }
        if (value instanceof Map<?, ?> map) {
            String separator = "{";
            for (Map.Entry<?, ?> entry : map.entrySet()) {
                text.append(separator);
                separator = ", ";
                JsonWriter.quote(text, name(entry.getKey()));
                text.append(": ");
                append(entry.getValue(), depth + 1);
            }
            text.append(separator.equals("{") ? "{}" : "}");
        } else if (value instanceof Collection<?> collection) {
            text.append('[');
            String separator = "";
            for (Object item : collection) {
                text.append(separator);
                separator = ", ";
                append(item, depth + 1);
            }
            text.append(']');
        } else if (value != null && value.getClass().isArray()) {
            text.append('[');
            for (int i = 0; i < Array.getLength(value); i++) {
                text.append(i == 0 ? "" : ", ");
                append(Array.get(value, i), depth + 1);
            }
            text.append(']');
        } else if (value instanceof Record) {
            appendRecord((Record) value, depth);
        } else {
            appendScalar(value);
        }
    }

    private void appendRecord(Record value, int depth) throws NotJson {
        String separator = "{";
        for (RecordComponent component : value.getClass().getRecordComponents()) {
            text.append(separator);
            separator = ", ";
            JsonWriter.quote(text, component.getName()).append(": ");
            try {
                component.getAccessor().setAccessible(true);
                append(component.getAccessor().invoke(value), depth + 1);
            } catch (IllegalAccessException | InvocationTargetException e) {
                throw new NotJson();
            }
        }
        text.append(separator.equals("{") ? "{}" : "}");
    }

    private static String name(Object key) throws NotJson {
        if (key instanceof String || key instanceof Character || isNumber(key)) {
            return key.toString();
        }
        if (key instanceof Enum<?> constant) {
            return constant.name();
        }
        throw new NotJson();
    }

    private static boolean isNumber(Object value) {
        return value instanceof Integer
                || value instanceof Long
                || value instanceof Double
                || value instanceof Float
                || value instanceof Short
                || value instanceof Byte;
    }

    private void appendScalar(Object value) throws NotJson {
        if (value == null || value instanceof Boolean) {
            text.append(value);
        } else if (value instanceof CharSequence || value instanceof Character) {
            JsonWriter.quote(text, value.toString());
        } else if (value instanceof Enum<?> constant) {
            JsonWriter.quote(text, constant.name());
        } else if (isNumber(value)) {
            boolean finite = Double.isFinite(((Number) value).doubleValue());
            text.append(finite ? value : null); // NaN and the infinities have no JSON
        } else {
            throw new NotJson();
        }
    }
}
