package stepbox.runner;

import java.util.Arrays;
import java.util.List;
import jdk.jshell.EvalException;
import jdk.jshell.JShellException;

/** Stack traces as Java prints them, with the code's lines, and without what runs the code. */
final class Tracebacks {
    /** Frames shown of one exception: the newest, and the oldest. */
    private static final int FIRST = 30;

    private static final int LAST = 10;

    private static final String OWN = "stepbox.runner.";
    private static final int MAX_CAUSES = 20;

    private Tracebacks() {}

    static String text(JShellException exception) {
        StringBuilder text = new StringBuilder();
        Throwable next = exception;
        for (int i = 0; next instanceof JShellException && i < MAX_CAUSES; i++) {
            text.append(i == 0 ? "" : "Caused by: ");
            text.append(head((JShellException) next)).append('\n');
            text.append(frames((JShellException) next));
            next = next.getCause();
        }
        return text.toString();
    }

    private static String head(JShellException exception) {
        if (!(exception instanceof EvalException)) {
            return exception.getClass().getSimpleName() + ": " + exception.getMessage();
        }
        String name = Failures.className((EvalException) exception);
        String message = exception.getMessage();
        return message == null ? name : name + ": " + Location.withoutWrappers(message);
    }

    /** Lines "at ...", down to the oldest frame of the code; not those of its streams. */
    static String frames(JShellException exception) {
        List<StackTraceElement> all = Arrays.asList(exception.getStackTrace());
        int count = all.size();
        while (count > 0 && Location.of(all.get(count - 1).getFileName()) == null) {
            count--;
        }
        int first = count;
        while (first > 0 && !all.get(first - 1).getClassName().startsWith(OWN)) {
            first--;
        }
        List<StackTraceElement> frames = all.subList(first, count);
        count = frames.size();
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < count; i++) {
            if (i == FIRST && count > FIRST + LAST) {
                int left = count - FIRST - LAST;
                text.append("\t... ").append(left).append(" more\n");
                i += left;
            }
            text.append("\tat ").append(show(frames.get(i))).append('\n');
        }
        return text.toString();
    }

    static String show(StackTraceElement frame) {
        Location location = Location.of(frame.getFileName());
        if (location == null) {
            return frame.toString();
        }
        String place = location.show(frame.getLineNumber());
        String type = frame.getClassName();
        String method = frame.getMethodName();
        if (type.isEmpty() && method.isEmpty()) {
            return place;
        }
        return (type.isEmpty() ? method : type + "." + method) + "(" + place + ")";
    }
}
