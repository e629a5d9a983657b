package stepbox.runner;

import java.util.HashSet;
import java.util.Set;
import java.util.stream.Collectors;

/** The processes that the code of the current step has started. */
final class Children {
    private static Set<Long> before = Set.of();

    private Children() {}

    /** Those there are now belong to earlier steps. */
    static synchronized void beginStep() {
        before =
                ProcessHandle.current()
                        .descendants()
                        .map(ProcessHandle::pid)
                        .collect(Collectors.toCollection(HashSet::new));
    }

    /** Sends SIGINT to the newer ones: the code may wait for what they write. */
    static synchronized void interrupt() {
        ProcessHandle.current()
                .descendants()
                .filter(process -> !before.contains(process.pid()))
                .forEach(process -> Native.interrupt(process.pid()));
    }
}
