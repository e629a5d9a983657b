package stepbox.runner;

/**
 * Memory that is given back when the code has taken all: without it nothing could be compiled any
 * more, and so the code could not let go of anything.
 */
final class Reserve {
    private static final long LARGEST = 8 * 1024 * 1024;

    private byte[] held;

    /** Before a step: takes the reserve (again) where there is plenty. */
    void fill() {
        Runtime runtime = Runtime.getRuntime();
        long most = runtime.maxMemory();
        long size = Math.min(LARGEST, most / 16);
        long used = runtime.totalMemory() - runtime.freeMemory();
        if (held == null && most - used > 4 * size) {
            held = new byte[(int) size];
        }
    }

    /** Memory ran out. False when the reserve was gone before. */
    boolean open() {
        boolean had = held != null;
        held = null;
        return had;
    }
}
