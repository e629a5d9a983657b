package stepbox.runner;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import jdk.jshell.execution.DirectExecutionControl;

/**
 * Runs JShell's compiled snippets in this virtual machine, on the code's own thread, and keeps what
 * the latest gave as it is: JShell itself passes on texts alone.
 */
final class Execution extends DirectExecutionControl {
    private final Reserve reserve;
    private CodeThread thread;
    private Object value;

    Execution(Reserve reserve) {
        this.reserve = reserve;
    }

    /** Before anything is run: the thread needs the loader that JShell makes. */
    void runOn(CodeThread codeThread) {
        thread = codeThread;
    }

    @Override
    protected String invoke(Method method) throws Exception {
        value = null;
        try {
            value = thread.call(() -> callAndConvert(method));
        } catch (Exception e) {
            throw e;
        } catch (Throwable e) {
            throw new InvocationTargetException(e);
        }
        return ""; // what JShell would show of the value; asking it for its text may be dear
    }

    /** On the code's thread also for an exception's message, which may be the code's own method. */
    private Object callAndConvert(Method method) throws Exception {
        try {
            return method.invoke(null);
        } catch (InvocationTargetException e) {
            reserve.openFor(e.getCause());
            return throwConvertedInvocationException(e.getCause());
        }
    }

    /** What the latest snippet gave. */
    Object takeValue() {
        Object taken = value;
        value = null;
        return taken;
    }
}
