package stepbox.runner;

import java.io.ByteArrayInputStream;
import java.io.FileDescriptor;
import java.io.PrintStream;
import java.lang.reflect.Field;

/** Puts the standard streams in place, and back when a step has left nothing usable there. */
final class StandardStreams {
    private final Turns turns;
    private final int out;
    private final int err;
    private final Field number;
    private final Output notes;

    StandardStreams(Turns turns) throws ReflectiveOperationException {
        this.turns = turns;
        this.out = Native.copyHigh(1);
        this.err = Native.copyHigh(2);
        this.number = FileDescriptor.class.getDeclaredField("fd");
        this.number.setAccessible(true);
        System.setIn(new ByteArrayInputStream(new byte[0]));
        System.setOut(new Output(turns, out));
        System.setErr(new Output(turns, err));
        notes = new Output(turns, err);
    }

    /** A line of the runner's own on standard error, wherever the code has led System.err. */
    void note(String line) {
        notes.println(line);
    }

    /** New ones in place of ours: a thread that was stopped may keep a lock of the old ones. */
    void renew() {
        if (System.out == null || System.out instanceof Output) {
            System.setOut(new Output(turns, out));
        }
        if (System.err == null || System.err instanceof Output) {
            System.setErr(new Output(turns, err));
        }
    }

    /** Java gives children /dev/null when its descriptors 1 and 2 are closed; this undoes it. */
    void repair() {
        Native.replace(1, out);
        Native.replace(2, err);
        try {
            number.setInt(FileDescriptor.out, 1);
            number.setInt(FileDescriptor.err, 2);
        } catch (IllegalAccessException e) {
            throw new IllegalStateException(e);
        }
        if (System.out == null || System.err == null) {
            renew();
        }
    }

    /** Whether the code has put streams of its own in their place, which may hold text back. */
    boolean areReplaced() {
        return !(System.out instanceof Output) || !(System.err instanceof Output);
    }

    /** Calls methods of such streams: to be done on a thread that runs code. */
    void flush() {
        for (PrintStream stream : new PrintStream[] {System.out, System.err}) {
            if (stream != null) {
                stream.flush();
            }
        }
    }
}
