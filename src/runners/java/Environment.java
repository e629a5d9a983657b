package stepbox.runner;

import java.io.ByteArrayOutputStream;
import java.lang.reflect.Field;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The environment variables of one step: set before it, put back after it, always as data.
 *
 * <p>Java copies the environment at its start. Both the copy, which System.getenv() shows, and the
 * process's own, which children get, are changed.
 */
final class Environment {
    /** A name or a value that no environment can have. */
    static final class Impossible extends Exception {
        private static final long serialVersionUID = 1;

        Impossible(String message) {
            super(message);
        }
    }

    private final Map<String, String> copy;

    @SuppressWarnings("unchecked")
    Environment() throws ReflectiveOperationException {
        Field behind = Class.forName("java.util.Collections$UnmodifiableMap").getDeclaredField("m");
        behind.setAccessible(true);
        copy = (Map<String, String>) behind.get(System.getenv());
    }

    /** Sets them all, or none. Returns what putBack() takes. */
    Map<String, String> set(Map<?, ?> variables) throws Impossible {
        for (Map.Entry<?, ?> variable : variables.entrySet()) {
            check(variable.getKey(), variable.getValue());
        }
        Map<String, String> before = new LinkedHashMap<>();
        for (Map.Entry<?, ?> variable : variables.entrySet()) {
            String name = (String) variable.getKey();
            before.put(name, copy.get(name));
            put(name, (String) variable.getValue());
        }
        return before;
    }

    void putBack(Map<String, String> before) {
        before.forEach(this::put);
    }

    private static void check(Object name, Object value) throws Impossible {
        if (!(name instanceof String) || !(value instanceof String)) {
            throw new Impossible("an environment variable must be a string");
        }
        if (((String) name).isEmpty()) {
            throw new Impossible("an environment variable needs a name");
        }
        if (((String) name).indexOf('=') >= 0) {
            throw new Impossible("an environment variable's name cannot contain '='");
        }
        if (((String) name).indexOf('\0') >= 0 || ((String) value).indexOf('\0') >= 0) {
            throw new Impossible("an environment variable cannot contain NUL");
        }
    }

    private void put(String name, String value) {
        ByteArrayOutputStream assignment = new ByteArrayOutputStream();
        assignment.writeBytes(name.getBytes(StandardCharsets.UTF_8));
        assignment.write(0);
        if (value == null) {
            copy.remove(name);
        } else {
            copy.put(name, value);
            assignment.writeBytes(value.getBytes(StandardCharsets.UTF_8));
            assignment.write(0);
        }
        Native.setEnvironment(assignment.toByteArray(), assignment.size());
    }
}
