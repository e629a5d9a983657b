package stepbox.runner;

import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import jdk.jshell.JShell;

/**
 * Splits the code of a step into snippets, each of which JShell takes alone.
 *
 * <p>JShell's own analysis is used, but not by SourceCodeAnalysis: to make one starts a thread that
 * indexes every class there is, for completion, which takes 0.4 s of processor time and 100 MB.
 */
final class Snippets {
    /** A part of the code. An incomplete one is the last, and cannot run. */
    static final class Snippet {
        final String source;
        final int begin; // in the code
        final boolean complete;

        Snippet(String source, int begin, boolean complete) {
            this.source = source;
            this.begin = begin;
            this.complete = complete;
        }
    }

    private final Object analyzer;
    private final Method scan;
    private final Field status;
    private final Field end;

    Snippets(JShell shell) throws ReflectiveOperationException {
        Class<?> type = Class.forName("jdk.jshell.CompletenessAnalyzer");
        Constructor<?> constructor = type.getDeclaredConstructor(JShell.class);
        constructor.setAccessible(true);
        analyzer = constructor.newInstance(shell);
        scan = type.getDeclaredMethod("scan", String.class);
        scan.setAccessible(true);
        status = scan.getReturnType().getDeclaredField("status");
        status.setAccessible(true);
        end = scan.getReturnType().getDeclaredField("unitEndPos");
        end.setAccessible(true);
    }

    List<Snippet> split(String code) throws ReflectiveOperationException {
        List<Snippet> snippets = new ArrayList<>();
        int at = skipSpace(code, 0);
        while (at < code.length()) {
            String rest = code.substring(at);
            Object info = scan.invoke(analyzer, rest);
            String found = status.get(info).toString();
            int length = Math.min(end.getInt(info), rest.length());
            boolean complete = !found.endsWith("INCOMPLETE");
            if (!complete || length <= 0 || found.equals("UNKNOWN")) {
                snippets.add(new Snippet(rest, at, complete));
                break;
            }
            String source = rest.substring(0, length);
            snippets.add(new Snippet(found.endsWith("SEMI") ? source + ";" : source, at, true));
            at = skipSpace(code, at + length);
        }
        return snippets;
    }

    /** The position after spaces, comments and lone semicolons. */
    private static int skipSpace(String code, int from) {
        int at = from;
        while (at < code.length()) {
            char character = code.charAt(at);
            if (Character.isWhitespace(character) || character == ';') {
                at++;
            } else if (code.startsWith("//", at)) {
                int newline = code.indexOf('\n', at);
                at = newline < 0 ? code.length() : newline;
            } else if (code.startsWith("/*", at) && code.indexOf("*/", at + 2) >= 0) {
                at = code.indexOf("*/", at + 2) + 2;
            } else {
                break;
            }
        }
        return at;
    }
}
