package stepbox.runner;

/** Raised in the code of a step that is interrupted and does not heed Thread.interrupt(). */
final class StepInterrupted extends Error {
    private static final long serialVersionUID = 1;

    /** The frames are of the code's thread: an exception has those of where it is made. */
    StepInterrupted(StackTraceElement... frames) {
        super("the step was interrupted");
        setStackTrace(frames);
    }
}
