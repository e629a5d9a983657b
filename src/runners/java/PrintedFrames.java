package stepbox.runner;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

import java.lang.reflect.Field;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import jdk.jshell.JShell;

/**
 * Stack traces that the code prints itself: with the lines of its steps, as tracebacks have them.
 * Java knows only the classes that JShell wraps the code in, and their lines.
 */
final class PrintedFrames {
    private static final byte[] SIGN = "REPL.$JShell$".getBytes(UTF_8);

    private static final Pattern FRAME =
            Pattern.compile(
                    "(REPL\\.\\$JShell\\$[^\\s().]+)\\.([^\\s().]+)"
                            + "\\((\\$JShell\\$[0-9A-Z]+\\.java):([0-9]{1,9})\\)");

    private static volatile PrintedFrames current;

    private final Object eval;
    private final Method translate;

    private PrintedFrames(JShell shell) throws ReflectiveOperationException {
        Field field = JShell.class.getDeclaredField("eval");
        field.setAccessible(true);
        eval = field.get(shell);
        translate = eval.getClass().getDeclaredMethod("translateExceptionStack", Exception.class);
        translate.setAccessible(true);
    }

    /** What is written from now on is of that shell. One that lacks the method does without. */
    static void areOf(JShell shell) {
        try {
            current = new PrintedFrames(shell);
        } catch (ReflectiveOperationException e) {
            current = null;
        }
    }

    /** What is to be written instead of these bytes; null where it is they themselves. */
    static byte[] named(byte[] bytes, int offset, int length) {
        PrintedFrames frames = current;
        if (frames == null || !hasSign(bytes, offset, offset + length)) {
            return null;
        }
        // ISO 8859-1 leaves everything else as it is, whatever that is.
        return FRAME.matcher(new String(bytes, offset, length, ISO_8859_1))
                .replaceAll(found -> Matcher.quoteReplacement(frames.name(found)))
                .getBytes(ISO_8859_1);
    }

    private static boolean hasSign(byte[] bytes, int from, int end) {
        for (int at = from; at <= end - SIGN.length; at++) {
            if (bytes[at] == SIGN[0]
                    && Arrays.equals(bytes, at, at + SIGN.length, SIGN, 0, SIGN.length)) {
                return true;
            }
        }
        return false;
    }

    private String name(MatchResult found) {
        StackTraceElement frame =
                new StackTraceElement(
                        utf8(found.group(1)),
                        utf8(found.group(2)),
                        found.group(3),
                        Integer.parseInt(found.group(4)));
        StackTraceElement translated = translate(frame);
        if (translated == null || Location.of(translated.getFileName()) == null) {
            return found.group();
        }
        return new String(Tracebacks.show(translated).getBytes(UTF_8), ISO_8859_1);
    }

    private static String utf8(String text) {
        return new String(text.getBytes(ISO_8859_1), UTF_8);
    }

    /** Null when it cannot be told: another thread may be changing what JShell looks it up in. */
    private StackTraceElement translate(StackTraceElement frame) {
        Exception exception = new Exception();
        exception.setStackTrace(new StackTraceElement[] {frame});
        try {
            return ((StackTraceElement[]) translate.invoke(eval, exception))[0];
        } catch (InvocationTargetException e) {
            if (e.getCause() instanceof Error error) {
                throw error; // it may be an interrupt
            }
            return null;
        } catch (IllegalAccessException e) {
            return null;
        }
    }
}
