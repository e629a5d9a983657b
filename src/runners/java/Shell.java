package stepbox.runner;

import java.util.List;
import java.util.Locale;
import java.util.Map;
import jdk.jshell.DeclarationSnippet;
import jdk.jshell.Diag;
import jdk.jshell.JShell;
import jdk.jshell.Snippet;
import jdk.jshell.SnippetEvent;
import jdk.jshell.spi.ExecutionControl;
import jdk.jshell.spi.ExecutionControlProvider;
import jdk.jshell.spi.ExecutionEnv;

/** JShell, with code run in this virtual machine, and its state as a new context has it. */
final class Shell {
    /** Those of `jshell` with its start-up named DEFAULT. */
    private static final List<String> IMPORTS =
            List.of(
                    "java.io.*",
                    "java.math.*",
                    "java.net.*",
                    "java.nio.file.*",
                    "java.util.*",
                    "java.util.concurrent.*",
                    "java.util.function.*",
                    "java.util.prefs.*",
                    "java.util.regex.*",
                    "java.util.stream.*");

    private final Execution execution;
    private final JShell shell;
    private final Snippets snippets;
    private final CodeThread thread;
    private Location next = new Location(0, 1);
    private int identifiers;
    private int values;

    Shell(Turns turns, Interrupts interrupts, Reserve reserve)
            throws ReflectiveOperationException {
        execution = new Execution(reserve);
        shell =
                JShell.builder()
                        .executionEngine(provider(), Map.of())
                        .idGenerator((snippet, index) -> next.id(++identifiers))
                        .tempVariableNameGenerator(() -> "$" + ++values)
                        .build();
        thread = new CodeThread(turns, interrupts, Thread.currentThread().getContextClassLoader());
        execution.runOn(thread);
        snippets = new Snippets(shell);
        PrintedFrames.areOf(shell);
        String path = System.getenv("CLASSPATH");
        if (path != null && !path.isEmpty()) {
            shell.addToClasspath(path);
        }
        for (String name : IMPORTS) {
            shell.eval("import " + name + ";");
        }
    }

    private ExecutionControlProvider provider() {
        return new ExecutionControlProvider() {
            @Override
            public String name() {
                return "stepbox";
            }

            @Override
            public ExecutionControl generate(ExecutionEnv env, Map<String, String> parameters) {
                return execution;
            }
        };
    }

    /** Has all that a first step needs loaded, and leaves no trace. */
    void warmUp() {
        for (Snippets.Snippet snippet : split("int n = 1; List.of(n).toString()")) {
            for (SnippetEvent event : shell.eval(snippet.source)) {
                shell.drop(event.snippet());
            }
        }
        values = 0;
    }

    List<Snippets.Snippet> split(String code) {
        try {
            return snippets.split(code);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Runs one snippet. The first of the events is about it, others about what depends on it. */
    List<SnippetEvent> run(String source, Location location) {
        next = location;
        return shell.eval(source);
    }

    Object takeValue() {
        return execution.takeValue();
    }

    CodeThread thread() {
        return thread;
    }

    List<Diag> errors(Snippet snippet) {
        return shell.diagnostics(snippet).filter(Diag::isError).toList();
    }

    /** What a declaration still needs before it can be used; null when it is whole or gone. */
    String needs(DeclarationSnippet snippet) {
        switch (shell.status(snippet)) {
            case RECOVERABLE_DEFINED:
            case RECOVERABLE_NOT_DEFINED:
                List<String> names = shell.unresolvedDependencies(snippet).toList();
                return names.isEmpty()
                        ? errors(snippet).get(0).getMessage(Locale.ROOT)
                        : String.join(", ", names) + (names.size() > 1 ? " are" : " is");
            default:
                return null;
        }
    }
}
