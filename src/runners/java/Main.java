package stepbox.runner;

import java.nio.file.Path;

/**
 * The Java runner: keeps the state of one JShell and runs the agent's steps in it.
 *
 * <p>start.sh FD starts it. FD is an inherited stream socket to the agent; standard output and
 * error are pipes that the agent reads.
 */
public final class Main {
    private Main() {}

    public static void main(String[] words) throws Exception {
        if (words.length != 2 || !words[1].matches("[0-9]{1,9}")) {
            System.err.println("usage: Main FOLDER FD");
            System.exit(2);
        }
        System.load(Path.of(words[0], "native.so").toAbsolutePath().toString());
        Class.forName("jdk.jshell.JShell"); // a Java without it is to be told before "ready"
        try {
            new Runner(Integer.parseInt(words[1])).serve();
            Runtime.getRuntime().halt(0);
        } catch (Throwable e) {
            // The code's threads must not keep alive what takes no steps any more.
            e.printStackTrace();
            Runtime.getRuntime().halt(1);
        }
    }
}
