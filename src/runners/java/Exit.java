package stepbox.runner;

import java.lang.reflect.Method;

/** System.exit() in the code: the step ends normally, when the code's own hooks have run. */
final class Exit {
    /** Java's own sequence of hooks: this place is after all of Runtime.addShutdownHook(). */
    private static final int PLACE = 7;

    private Exit() {}

    static void install(Channel channel, StandardStreams streams)
            throws ReflectiveOperationException {
        Method add =
                Class.forName("java.lang.Shutdown")
                        .getDeclaredMethod("add", int.class, boolean.class, Runnable.class);
        add.setAccessible(true);
        Runnable hook =
                () -> {
                    if (streams.areReplaced()) {
                        streams.flush();
                    }
                    channel.endForGood("{\"type\": \"end\", \"exit\": true}");
                };
        add.invoke(null, PLACE, false, hook);
    }
}
