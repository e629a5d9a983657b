package stepbox.runner;

/**
 * Memory that is given back when the code has taken all: without it nothing could be compiled any
 * more, and so the code could not let go of anything.
 */
final class Reserve {
    private static final long LARGEST = 8 * 1024 * 1024;

    private volatile byte[] held;

    /** Before a step: takes the reserve (again) where there is plenty. Whether there is one. */
    boolean fill() {
        Runtime runtime = Runtime.getRuntime();
        long most = runtime.maxMemory();
        long size = Math.min(LARGEST, most / 16);
        if (held == null && most - used(runtime) <= 4 * size) {
            System.gc(); // it may be in use no more
        }
        if (held == null && most - used(runtime) > 4 * size) {
            held = new byte[(int) size];
        }
        return held != null;
    }

    private static long used(Runtime runtime) {
        return runtime.totalMemory() - runtime.freeMemory();
    }

    /** When something was thrown: gives the memory back if that is what is missing. */
    void openFor(Throwable thrown) {
        if (thrown instanceof OutOfMemoryError) {
            held = null;
        }
    }
}
