package stepbox.runner;

import java.util.HashSet;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/** The processes that the code of the current step has started. */
final class Children {
    /** Milliseconds for one that is being started, and how often it gets them. */
    private static final long START = 20;

    private static final int STARTS = 50;

    private static Set<Long> before = Set.of();
    private static final Set<Long> told = new HashSet<>();

    private Children() {}

    private static Set<Long> now() {
        return ProcessHandle.current()
                .descendants()
                .map(ProcessHandle::pid)
                .collect(Collectors.toCollection(HashSet::new));
    }

    /** Those there are now belong to earlier steps. */
    static synchronized void beginStep() {
        told.clear();
        before = now();
    }

    /** Those of this step that were not told. */
    private static synchronized Set<Long> untold() {
        Set<Long> found = now();
        found.removeAll(before);
        found.removeAll(told);
        return found;
    }

    private static synchronized void tell(long pid) {
        if (!before.contains(pid) && told.add(pid)) {
            Native.interrupt(pid);
        }
    }

    /**
     * Sends SIGINT to those of this step that did not get it before: the code may wait for what
     * they write.
     */
    static void interrupt() {
        Set<Long> waiting = untold();
        for (int i = 0; i < STARTS && !waiting.isEmpty(); i++) {
            try {
                Thread.sleep(START);
            } catch (InterruptedException e) {
                // only code that means others does this
            }
            for (Long pid : Set.copyOf(waiting)) {
                Optional<ProcessHandle> process = ProcessHandle.of(pid);
                if (process.isPresent() && isBeingStarted(process.get())) {
                    continue;
                }
                waiting.remove(pid);
                tell(pid);
            }
        }
    }

    /**
     * Whether it is still Java's: a copy of this process, or the helper that becomes the program. To
     * end it would be an IOException in the code.
     */
    private static boolean isBeingStarted(ProcessHandle process) {
        ProcessHandle.Info own = ProcessHandle.current().info();
        ProcessHandle.Info info = process.info();
        Optional<String> command = info.command();
        return command.orElse("").endsWith("/jspawnhelper")
                || command.equals(own.command()) && info.commandLine().equals(own.commandLine())
                || !command.equals(process.info().command());
    }
}
