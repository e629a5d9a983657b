package stepbox.runner;

/** What Java has no means for; see native.c. */
final class Native {
    private Native() {}

    static native int prepare();

    static native void takeInterrupts();

    static native int copyHigh(int descriptor);

    static native void replace(int descriptor, int by);

    static native void close(int descriptor);

    static native int read(int descriptor, byte[] bytes, int length);

    static native int write(int descriptor, byte[] bytes, int offset, int length);

    static native void setEnvironment(byte[] assignment, int length);

    static native long currentThread();

    static native void wake(long thread);

    static native void interrupt(long process);

    static native boolean stop(Thread thread, Throwable exception);
}
