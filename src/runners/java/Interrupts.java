package stepbox.runner;

/**
 * SIGINT: ends the code of a step, and nothing else.
 *
 * <p>First the code's thread is interrupted in Java's own way, and the processes that the code has
 * started get SIGINT too. Code that goes on is stopped by an error that is raised in it.
 */
final class Interrupts {
    /** Milliseconds that code has to heed Thread.interrupt(). */
    private static final long HEED = 300;

    /** Milliseconds that it has to end after it was stopped, before it is stopped again. */
    private static final long END = 2000;

    private boolean inStep;
    private boolean wanted; // in this step
    private CodeThread.Worker running;
    private long runs;
    private Runnable afterStop = () -> {};

    /** Takes interrupts, a byte each, on a thread of its own. */
    void listen(int descriptor) {
        inBackground("stepbox-interrupts", () -> listenTo(descriptor));
    }

    private void listenTo(int descriptor) {
        byte[] bytes = new byte[64];
        while (true) {
            int count = Native.read(descriptor, bytes, bytes.length);
            if (count > 0) {
                onSignal();
            } else if (count < 0) {
                return;
            }
        }
    }

    /** What to do when a thread had to be stopped. */
    void onStop(Runnable action) {
        afterStop = action;
    }

    synchronized void enterStep() {
        inStep = true;
        wanted = false;
    }

    synchronized void leaveStep() {
        inStep = false;
        wanted = false;
    }

    /** Whether an interrupt came in this step. */
    synchronized boolean wanted() {
        return wanted;
    }

    synchronized void enterCode(CodeThread.Worker worker) {
        if (wanted) {
            throw new StepInterrupted();
        }
        runs++;
        running = worker;
    }

    synchronized void leaveCode() {
        running = null;
        notifyAll();
    }

    private void onSignal() {
        final long run;
        synchronized (this) {
            if (!inStep || wanted) {
                return;
            }
            wanted = true;
            if (running == null) {
                return;
            }
            run = runs;
            running.ask();
        }
        // Not here: what comes meanwhile must not wait, and be taken for the next step.
        inBackground("stepbox-stop", () -> stop(run));
        inBackground("stepbox-children", Children::interrupt);
    }

    private static void inBackground(String name, Runnable action) {
        Thread thread = new Thread(action, name);
        thread.setDaemon(true);
        thread.start();
    }

    private synchronized void stop(long run) {
        boolean stopped = false;
        long since = System.nanoTime();
        while (running != null && runs == run) {
            long patience = stopped ? END : HEED;
            long left = patience - (System.nanoTime() - since) / 1_000_000;
            if (left > 0) {
                try {
                    wait(left);
                } catch (InterruptedException e) {
                    // only code that means others does this
                }
                continue;
            }
            running.stopCode();
            stopped = true;
            since = System.nanoTime();
        }
        if (stopped) {
            afterStop.run();
        }
    }
}
