package stepbox.runner;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Reads one JSON value: Map, List, String, Double, Boolean or null. */
final class JsonReader {
    private static final int MAX_DEPTH = 64;

    static final class BadJson extends Exception {
        private static final long serialVersionUID = 1;

        BadJson(String message) {
            super(message);
        }
    }

    private final String text;
    private int at;

    private JsonReader(String text) {
        this.text = text;
    }

    static Object read(String text) throws BadJson {
        JsonReader reader = new JsonReader(text);
        Object value = reader.value(0);
        if (reader.peek() != '\0') {
            throw reader.bad("something after the value");
        }
        return value;
    }

    private BadJson bad(String what) {
        return new BadJson(what + " at " + at);
    }

    /** The next character that is no space; NUL at the end. */
    private char peek() {
        while (at < text.length() && " \t\r\n".indexOf(text.charAt(at)) >= 0) {
            at++;
        }
        return at < text.length() ? text.charAt(at) : '\0';
    }

    private void expect(char wanted) throws BadJson {
        if (peek() != wanted) {
            throw bad("no " + wanted);
        }
        at++;
    }

    /** Whether another member follows; takes the comma, or the closing bracket. */
    private boolean another(char closing, boolean first) throws BadJson {
        if (peek() == closing) {
            at++;
            return false;
        }
        if (!first) {
            expect(',');
        }
        return true;
    }

    private Object value(int depth) throws BadJson {
        if (depth > MAX_DEPTH) {
            throw bad("too deep");
        }
        switch (peek()) {
            case '{':
                return object(depth);
            case '[':
                return array(depth);
            case '"':
                return string();
            default:
                return literal();
        }
    }

    private Map<String, Object> object(int depth) throws BadJson {
        Map<String, Object> members = new LinkedHashMap<>();
        expect('{');
        for (boolean first = true; another('}', first); first = false) {
            peek();
            String name = string();
            expect(':');
            members.put(name, value(depth + 1));
        }
        return members;
    }

    private List<Object> array(int depth) throws BadJson {
        List<Object> items = new ArrayList<>();
        expect('[');
        for (boolean first = true; another(']', first); first = false) {
            items.add(value(depth + 1));
        }
        return items;
    }

    private Object literal() throws BadJson {
        int begin = at;
        while (at < text.length() && ",]} \t\r\n".indexOf(text.charAt(at)) < 0) {
            at++;
        }
        String word = text.substring(begin, at);
        switch (word) {
            case "true":
                return Boolean.TRUE;
            case "false":
                return Boolean.FALSE;
            case "null":
                return null;
            default:
                try {
                    return Double.valueOf(word);
                } catch (NumberFormatException e) {
                    throw bad("no value");
                }
        }
    }

    private String string() throws BadJson {
        expect('"');
        StringBuilder string = new StringBuilder();
        while (at < text.length()) {
            int begin = at;
            while (at < text.length() && text.charAt(at) != '"' && text.charAt(at) != '\\') {
                at++;
            }
            string.append(text, begin, at);
            if (at == text.length()) {
                break;
            }
            if (text.charAt(at++) == '"') {
                return string.toString();
            }
            string.append(escaped());
        }
        throw bad("a string without end");
    }

    private char escaped() throws BadJson {
        char letter = at < text.length() ? text.charAt(at++) : '\0';
        int index = "\"\\/bfnrt".indexOf(letter);
        if (index >= 0 && letter != '\0') {
            return "\"\\/\b\f\n\r\t".charAt(index);
        }
        if (letter != 'u' || at + 4 > text.length()) {
            throw bad("a wrong escape");
        }
        try {
            char character = (char) Integer.parseInt(text.substring(at, at + 4), 16);
            at += 4;
            return character;
        } catch (NumberFormatException e) {
            throw bad("a wrong escape");
        }
    }
}
