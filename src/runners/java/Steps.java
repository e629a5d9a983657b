package stepbox.runner;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import jdk.jshell.DeclarationSnippet;
import jdk.jshell.EvalException;
import jdk.jshell.JShellException;
import jdk.jshell.Snippet;
import jdk.jshell.SnippetEvent;
import jdk.jshell.UnresolvedReferenceException;

/** Runs the code of one step after the other. */
final class Steps {
    private static final Pattern ASSIGNMENT =
            Pattern.compile("[\\w$.]+(\\s*\\[[^\\]]*\\])*\\s*([-+*/%&|^]|<<|>>>?)?=(?!=)");

    private final Channel channel;
    private final Turns turns;
    private final Interrupts interrupts;
    private final StandardStreams streams;
    private final Shell shell;

    Steps(
            Channel channel,
            Turns turns,
            Interrupts interrupts,
            StandardStreams streams,
            Shell shell) {
        this.channel = channel;
        this.turns = turns;
        this.interrupts = interrupts;
        this.streams = streams;
        this.shell = shell;
    }

    /** Sends an event of the step. What the code has printed before it is in the pipes. */
    private void send(String line) {
        channel.send(line);
        turns.afterEvent();
    }

    void run(String code, int step) {
        List<DeclarationSnippet> declared = new ArrayList<>();
        List<Snippets.Snippet> snippets = shell.split(code);
        int last = snippets.size() - 1;
        if (last >= 0 && !snippets.get(last).complete) {
            // It gives an error, and nothing of the step is to run before that.
            snippets = snippets.subList(last, last + 1);
            last = 0;
        }
        boolean goesOn = true;
        for (int i = 0; i <= last && goesOn && !interrupts.wanted(); i++) {
            goesOn = run(snippets.get(i), code, step, declared, i == last);
        }
        if (goesOn && interrupts.wanted()) {
            // The code took it for something else, such as the end of what a child writes.
            send(Failures.interrupted(null));
        }
        for (DeclarationSnippet declaration : declared) {
            warn(declaration);
        }
    }

    /** False when nothing more of the step is to run. */
    private boolean run(
            Snippets.Snippet snippet,
            String code,
            int step,
            List<DeclarationSnippet> declared,
            boolean isLast) {
        Location location = new Location(step, Location.lineOf(code, snippet.begin));
        SnippetEvent event = about(shell.run(snippet.source, location));
        if (event == null) {
            return true;
        }
        if (event.status() == Snippet.Status.REJECTED) {
            send(
                    Failures.compilation(
                            shell.errors(event.snippet()), code, snippet.begin, location));
            return false;
        }
        if (event.exception() != null) {
            send(failure(event.exception()));
            return false;
        }
        if (event.snippet() instanceof DeclarationSnippet declaration) {
            declared.add(declaration);
        }
        Object value = shell.takeValue();
        if (isLast && isResult(event.snippet(), snippet.source)) {
            sendResult(value);
        }
        return true;
    }

    /** The event of the snippet itself: what depends on it has others. */
    private static SnippetEvent about(List<SnippetEvent> events) {
        for (SnippetEvent event : events) {
            if (event.causeSnippet() == null) {
                return event;
            }
        }
        return null;
    }

    /** Whether it is an expression that has a value, and no assignment. */
    private static boolean isResult(Snippet snippet, String source) {
        if (ASSIGNMENT.matcher(source).lookingAt()) {
            return false;
        }
        switch (snippet.subKind()) {
            case TEMP_VAR_EXPRESSION_SUBKIND:
            case VAR_VALUE_SUBKIND:
                return true;
            default:
                return false;
        }
    }

    /** Has streams of the code's own give what they hold back. */
    void flush() {
        try {
            shell.thread()
                    .call(
                            () -> {
                                streams.flush();
                                return null;
                            });
        } catch (Throwable e) {
            // the code's own stream, or an interrupt that came when all was done
        }
    }

    private void sendResult(Object value) {
        String line = null;
        try {
            line = shell.thread().call(() -> describe(value));
        } catch (Throwable e) {
            // stopped
        }
        if (line != null && !interrupts.wanted()) {
            send(line);
        }
    }

    private String describe(Object value) {
        try {
            return Results.describe(value, streams::note);
        } catch (Throwable e) {
            return Failures.ofText(e);
        }
    }

    private String failure(JShellException exception) {
        if (interrupts.wanted() && isInterrupt(exception)) {
            return Failures.interrupted(exception);
        }
        if (exception instanceof UnresolvedReferenceException unresolved) {
            DeclarationSnippet snippet = unresolved.getSnippet();
            String needs = shell.needs(snippet);
            String value = name(snippet) + " cannot be used until " + needs + " declared";
            String type = "UnresolvedReferenceException";
            return Failures.error(
                    type, value, type + ": " + value + "\n" + Tracebacks.frames(exception));
        }
        return Failures.exception((EvalException) exception);
    }

    private static boolean isInterrupt(Throwable exception) {
        for (Throwable e = exception; e != null; e = e.getCause()) {
            if (e instanceof EvalException eval
                    && eval.getExceptionClassName().matches(".*Interrupt(ed)?(Exception)?")) {
                return true;
            }
        }
        return false;
    }

    /** Says what a declaration lacks that JShell has taken all the same. */
    private void warn(DeclarationSnippet declaration) {
        String needs = shell.needs(declaration);
        if (needs != null) {
            String name = name(declaration);
            streams.note(name + " is kept, but cannot be used until " + needs + " declared");
        }
    }

    private static String name(DeclarationSnippet snippet) {
        String kind = snippet.kind().name().toLowerCase(java.util.Locale.ROOT);
        return (kind.equals("type_decl") ? "type" : kind.equals("var") ? "variable" : kind)
                + " "
                + snippet.name();
    }
}
