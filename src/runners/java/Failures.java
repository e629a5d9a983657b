package stepbox.runner;

import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;
import jdk.jshell.Diag;
import jdk.jshell.EvalException;
import jdk.jshell.JShellException;

/** Error lines: what went wrong in a step, with the lines of the code it went wrong in. */
final class Failures {
    private static final Pattern PLACE = Pattern.compile("\n *location:.*", Pattern.DOTALL);

    private Failures() {}

    static String error(String name, String value, String traceback) {
        return JsonWriter.ofType("error")
                .text("name", name)
                .text("value", Lengths.cut(value))
                .text("traceback", Lengths.cut(traceback))
                .toString();
    }

    /** Code that the compiler refuses. `begin` is where the snippet begins in the step's code. */
    static String compilation(List<Diag> errors, String code, int begin, Location location) {
        StringBuilder traceback = new StringBuilder();
        String first = null;
        for (Diag error : errors) {
            String whole = Location.withoutWrappers(error.getMessage(Locale.ROOT));
            String message = PLACE.matcher(whole).replaceFirst("").strip();
            first = first == null ? message : first;
            long position = Math.max(error.getPosition(), error.getStartPosition());
            position = Math.max(Math.min(begin + Math.max(position, 0), code.length()), begin);
            appendPlace(traceback, code, (int) position, location.step);
            traceback.append("CompilationException: ").append(message).append('\n');
        }
        return error(
                "CompilationException",
                first == null ? "the code cannot be compiled" : first,
                traceback.toString());
    }

    private static void appendPlace(StringBuilder to, String code, int position, int step) {
        int from = code.lastIndexOf('\n', position - 1) + 1;
        int end = code.indexOf('\n', from);
        String line = code.substring(from, end < 0 ? code.length() : end).stripTrailing();
        String indent = line.substring(0, Math.min(position - from, line.length()));
        to.append("  Cell In[").append(step).append("], line ");
        to.append(Location.lineOf(code, from)).append("\n    ").append(line).append("\n    ");
        to.append(indent.replaceAll("[^\t]", " ")).append("^\n");
    }

    /** An exception that left the code. */
    static String exception(EvalException exception) {
        String name = className(exception);
        String message = exception.getMessage();
        return error(
                name.substring(Math.max(name.lastIndexOf('.'), name.lastIndexOf('$')) + 1),
                message == null ? "" : Location.withoutWrappers(message),
                Tracebacks.text(exception));
    }

    /** The result's own toString() failed. */
    static String ofText(Throwable thrown) {
        String name = thrown.getClass().getSimpleName();
        String message = thrown.getMessage() == null ? "" : thrown.getMessage();
        return error(name, message, name + ": " + message + "\n\tin toString() of the result\n");
    }

    static String interrupted(JShellException exception) {
        String message = "the step was interrupted";
        String frames = exception == null ? "" : Tracebacks.frames(exception);
        String name = "InterruptedException";
        return error(name, message, name + ": " + message + "\n" + frames);
    }

    /** As the code knows the class: JShell puts what is declared into classes of its own. */
    static String className(EvalException exception) {
        return Location.withoutWrappers(exception.getExceptionClassName());
    }
}
