package stepbox.runner;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Where a snippet stands: its step and its first line there.
 *
 * <p>It travels as the snippet's id in JShell, which comes back as the file of its stack frames
 * ("#" and the id).
 */
final class Location {
    private static final Pattern ID = Pattern.compile("#?([0-9]+):([0-9]+):[0-9]+");

    private static final Pattern WRAPPER = Pattern.compile("REPL\\.\\$JShell\\$[0-9]+[A-Z]*[.$]");

    final int step;
    final int line;

    Location(int step, int line) {
        this.step = step;
        this.line = line;
    }

    String id(int unique) {
        return step + ":" + line + ":" + unique;
    }

    /** By an id, or the file of a frame; null for those that are none of ours. */
    static Location of(String id) {
        Matcher matcher = ID.matcher(String.valueOf(id));
        return matcher.matches()
                ? new Location(
                        Integer.parseInt(matcher.group(1)), Integer.parseInt(matcher.group(2)))
                : null;
    }

    /** A text with the names of classes as the code knows them: JShell wraps all in its own. */
    static String withoutWrappers(String text) {
        return text.contains("REPL.") ? WRAPPER.matcher(text).replaceAll("") : text;
    }

    /** As tracebacks show a line of the snippet, counted from 1. */
    String show(int lineOfSnippet) {
        return "Cell In[" + step + "], line " + (line + Math.max(lineOfSnippet, 1) - 1);
    }

    /** The number of the line that the position is in, counted from 1. */
    static int lineOf(String code, int position) {
        return 1 + (int) code.substring(0, position).chars().filter(c -> c == '\n').count();
    }
}
