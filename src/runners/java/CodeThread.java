package stepbox.runner;

import java.util.concurrent.Callable;

/**
 * The thread on which the code of steps runs: one and the same, so that what belongs to a thread is
 * kept, until an interrupt has to stop it.
 */
final class CodeThread {
    private final Turns turns;
    private final Interrupts interrupts;
    private final ClassLoader loader;
    private Worker worker;

    CodeThread(Turns turns, Interrupts interrupts, ClassLoader loader) {
        this.turns = turns;
        this.interrupts = interrupts;
        this.loader = loader;
    }

    /** Runs code, and serves the channel meanwhile. Throws what the code throws. */
    <T> T call(Callable<T> code) throws Throwable {
        if (worker == null || worker.retired || !worker.isAlive()) {
            worker = new Worker(turns);
            worker.setContextClassLoader(loader);
            worker.start();
        }
        Worker mine = worker;
        interrupts.enterCode(mine);
        mine.give(code);
        turns.serveUntil(mine::isDone);
        interrupts.leaveCode();
        if (mine.failure != null) {
            throw mine.failure;
        }
        @SuppressWarnings("unchecked")
        T result = (T) mine.result;
        mine.result = null;
        return result;
    }

    /** As programs know their first thread: called main, and no daemon. */
    static final class Worker extends Thread {
        private final Turns turns;
        private Callable<?> code;
        private volatile boolean busy;
        private volatile boolean retired;
        private volatile long id;
        private Object result;
        private Throwable failure;

        Worker(Turns turns) {
            super("main");
            this.turns = turns;
            setDaemon(false);
            setUncaughtExceptionHandler((thread, error) -> {});
        }

        private synchronized void give(Callable<?> given) {
            result = null;
            failure = new StepInterrupted();
            busy = true;
            code = given;
            notifyAll();
        }

        private boolean isDone() {
            return !busy || !isAlive();
        }

        private synchronized Callable<?> take() {
            while (code == null) {
                try {
                    wait();
                } catch (InterruptedException e) {
                    // an interrupt that came too late
                }
            }
            Callable<?> taken = code;
            code = null;
            return taken;
        }

        @Override
        public void run() {
            id = Native.currentThread();
            while (!retired) {
                Callable<?> taken = take();
                Thread.interrupted();
                Object value = null;
                Throwable thrown = null;
                try {
                    value = taken.call();
                } catch (Throwable error) {
                    thrown = error;
                }
                result = value;
                failure = thrown;
                busy = false;
                turns.wakeUp();
            }
        }

        /** Asks in Java's own way: ends what sleeps and waits, and what looks at the flag. */
        void ask() {
            interrupt();
        }

        /** Raises the error wherever the code is. The thread takes no other code after that. */
        void stopCode() {
            retired = true;
            StepInterrupted error = new StepInterrupted(getStackTrace());
            failure = error; // for a thread that ends without a word
            Native.stop(this, error);
            if (id != 0 && isAlive()) {
                Native.wake(id);
            }
        }
    }
}
