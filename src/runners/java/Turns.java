package stepbox.runner;

import java.util.function.BooleanSupplier;

/**
 * Keeps the order of what is written to the two standard streams, and of events between.
 *
 * <p>The agent reads two pipes and the channel: when a writer is not the one that wrote last, the
 * pipes must have been read empty first. Any thread may write, but the channel belongs to one: the
 * others ask it, and it answers while it waits for the code.
 */
final class Turns {
    private final Channel channel;
    private final Thread owner = Thread.currentThread(); // of the channel
    private Object writer; // who wrote last; null after an event
    private boolean inStep;
    private boolean begun; // something was written in this step, or an event sent
    private long asked;
    private long answered;

    Turns(Channel channel) {
        this.channel = channel;
    }

    synchronized void beginStep() {
        inStep = true;
        begun = false;
        writer = null;
    }

    synchronized void endStep() {
        inStep = false;
        answered = asked;
        notifyAll();
    }

    /** An event was sent: what is written after it must not overtake it. */
    synchronized void afterEvent() {
        writer = null;
        begun = true;
    }

    /** Called before each write to a stream. */
    synchronized void turnTo(Object stream) {
        if (writer == stream) {
            return;
        }
        if (inStep && begun) {
            askForDrain();
        }
        begun = true;
        writer = stream;
    }

    private void askForDrain() {
        if (Thread.currentThread() == owner) {
            channel.drain();
            return;
        }
        long mine = ++asked;
        boolean interrupted = false;
        notifyAll();
        try {
            while (answered < mine) {
                try {
                    wait();
                } catch (InterruptedException e) {
                    interrupted = true;
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** Something that serveUntil() waits for has happened. */
    synchronized void wakeUp() {
        notifyAll();
    }

    /** On the channel's thread: answers those who ask until the condition holds. */
    void serveUntil(BooleanSupplier ended) {
        while (true) {
            long latest;
            synchronized (this) {
                while (!ended.getAsBoolean() && asked == answered) {
                    waitAWhile();
                }
                if (asked == answered) {
                    return;
                }
                latest = asked;
            }
            channel.drain();
            synchronized (this) {
                answered = Math.max(answered, latest);
                notifyAll();
            }
        }
    }

    /** A thread that was stopped tells nobody that it ended: it is looked after. */
    private void waitAWhile() {
        try {
            wait(100);
        } catch (InterruptedException e) {
            // nobody interrupts this thread but code that means others
        }
    }
}
