package stepbox.runner;

import java.io.IOException;
import java.util.Map;

/** The life of a runner: takes one step after the other until the agent goes or the code exits. */
final class Runner {
    private final Channel channel;
    private final Turns turns;
    private final Interrupts interrupts = new Interrupts();
    private final StandardStreams streams;
    private final Environment environment;
    private final Reserve reserve = new Reserve();

    /** When nothing is left, not even to let go of something: the next step has a new runner. */
    private final byte[] lastWords =
            Channel.encode(
                    Failures.error(
                                    "OutOfMemoryError",
                                    "Java heap space",
                                    "java.lang.OutOfMemoryError: Java heap space\n")
                            + "\n{\"type\": \"end\", \"exit\": true}");

    private volatile Steps steps;
    private int count;

    Runner(int descriptor) throws IOException, ReflectiveOperationException {
        int signals = Native.prepare();
        channel = new Channel(descriptor);
        turns = new Turns(channel);
        streams = new StandardStreams(turns);
        environment = new Environment();
        interrupts.listen(signals);
        interrupts.onStop(streams::renew);
        Exit.install(channel, streams);
    }

    /** JShell comes to life while the first step is on its way: it takes as long as all before. */
    void serve() {
        Thread start = new Thread(this::makeShell, "stepbox-start");
        Thread.currentThread().setName("stepbox");
        start.start();
        channel.send("{\"type\":\"ready\"}");
        try {
            while (true) {
                Map<?, ?> request = channel.receive();
                if ("run".equals(request.get("type"))) {
                    Object variables = request.get("env");
                    step(
                            String.valueOf(request.get("code")),
                            variables instanceof Map<?, ?> map ? map : Map.of(),
                            start);
                }
            }
        } catch (Channel.AgentGone e) {
            // nobody is left to serve
        }
    }

    private void makeShell() {
        try {
            Shell shell = new Shell(turns, interrupts, reserve);
            shell.warmUp();
            steps = new Steps(channel, turns, interrupts, streams, shell);
        } catch (Throwable e) {
            e.printStackTrace();
            Runtime.getRuntime().halt(1);
        }
    }

    private void step(String code, Map<?, ?> variables, Thread start) {
        interrupts.enterStep();
        turns.beginStep();
        channel.beginStep(
                "{\"type\": \"number_of_executions\", \"execution_count\": " + ++count + "}");
        join(start);
        boolean hasReserve = false;
        try {
            hasReserve = reserve.fill();
            streams.repair();
            Native.takeInterrupts();
            Children.beginStep();
            Map<String, String> before = environment.set(variables);
            try {
                steps.run(code, count);
                if (streams.areReplaced()) {
                    steps.flush();
                }
            } finally {
                if (interrupts.wanted()) {
                    // Those that the code was about to start when the interrupt came.
                    Children.interrupt();
                }
                environment.putBack(before);
            }
        } catch (Environment.Impossible e) {
            String message = String.valueOf(e.getMessage());
            String name = "IllegalArgumentException";
            channel.send(Failures.error(name, message, name + ": " + message + "\n"));
        } catch (Throwable e) {
            // Of the runner itself, or of JShell: it is told, and the state is kept if it can be.
            if (e instanceof OutOfMemoryError && !hasReserve) {
                channel.send(lastWords);
                Runtime.getRuntime().halt(1);
            }
            reserve.openFor(e);
            String name = e.getClass().getSimpleName();
            channel.send(Failures.error(name, String.valueOf(e.getMessage()), e + "\n"));
        }
        interrupts.leaveStep();
        turns.endStep();
        channel.endStep("{\"type\": \"end\"}");
    }

    private static void join(Thread thread) {
        while (thread.isAlive()) {
            try {
                thread.join();
            } catch (InterruptedException e) {
                // nobody interrupts this thread but code that means others
            }
        }
    }
}
