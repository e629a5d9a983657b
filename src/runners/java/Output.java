package stepbox.runner;

import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Locale;

/**
 * System.out or System.err, straight onto a descriptor.
 *
 * <p>Nothing is held back: what a call prints is in the pipe when it returns, in one piece, so that
 * lines of several threads stay whole. All ways of PrintStream lead to write(), past its own
 * buffers and their locks, which a thread that is stopped might not give back.
 */
final class Output extends PrintStream {
    private final Turns turns;
    private final int descriptor;

    Output(Turns turns, int descriptor) {
        super(OutputStream.nullOutputStream(), false, StandardCharsets.UTF_8);
        this.turns = turns;
        this.descriptor = descriptor;
    }

    @Override
    public void write(byte[] bytes, int offset, int length) {
        java.util.Objects.checkFromIndexSize(offset, length, bytes.length);
        if (length == 0) {
            return;
        }
        byte[] named = PrintedFrames.named(bytes, offset, length);
        if (named != null) {
            writeAll(named, 0, named.length);
        } else {
            writeAll(bytes, offset, length);
        }
    }

    private void writeAll(byte[] bytes, int offset, int length) {
        turns.turnTo(this);
        synchronized (this) {
            int end = offset + length;
            while (offset < end) {
                int written = Native.write(descriptor, bytes, offset, end - offset);
                if (written < 0) {
                    setError();
                    return;
                }
                offset += written;
            }
        }
    }

    @Override
    public void write(int value) {
        write(new byte[] {(byte) value}, 0, 1);
    }

    @Override
    public void write(byte[] bytes) {
        write(bytes, 0, bytes.length);
    }

    @Override
    public void writeBytes(byte[] bytes) {
        write(bytes, 0, bytes.length);
    }

    @Override
    public void flush() {}

    /** The descriptor is the context's, not the code's. */
    @Override
    public void close() {}

    @Override
    public void print(String text) {
        write(String.valueOf(text).getBytes(StandardCharsets.UTF_8));
    }

    @Override
    public void print(char[] text) {
        print(new String(text));
    }

    @Override
    public void print(Object value) {
        print(String.valueOf(value));
    }

    @Override
    public void print(boolean value) {
        print(String.valueOf(value));
    }

    @Override
    public void print(char value) {
        print(String.valueOf(value));
    }

    @Override
    public void print(int value) {
        print(String.valueOf(value));
    }

    @Override
    public void print(long value) {
        print(String.valueOf(value));
    }

    @Override
    public void print(float value) {
        print(String.valueOf(value));
    }

    @Override
    public void print(double value) {
        print(String.valueOf(value));
    }

    @Override
    public void println() {
        print("\n");
    }

    @Override
    public void println(String text) {
        print(text + "\n");
    }

    @Override
    public void println(char[] text) {
        println(new String(text));
    }

    @Override
    public void println(Object value) {
        println(String.valueOf(value));
    }

    @Override
    public void println(boolean value) {
        println(String.valueOf(value));
    }

    @Override
    public void println(char value) {
        println(String.valueOf(value));
    }

    @Override
    public void println(int value) {
        println(String.valueOf(value));
    }

    @Override
    public void println(long value) {
        println(String.valueOf(value));
    }

    @Override
    public void println(float value) {
        println(String.valueOf(value));
    }

    @Override
    public void println(double value) {
        println(String.valueOf(value));
    }

    @Override
    public PrintStream format(String format, Object... values) {
        print(String.format(format, values));
        return this;
    }

    @Override
    public PrintStream format(Locale locale, String format, Object... values) {
        print(String.format(locale, format, values));
        return this;
    }
}
