package stepbox.runner;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Map;

/**
 * The line protocol with the agent: one JSON object per line on an inherited stream socket.
 *
 * <p>One thread alone uses it, which runs no code of steps: an interrupt that stops a thread at any
 * point of it cannot break the protocol. Only the end of the virtual machine comes from elsewhere.
 */
final class Channel {
    private static final int LINE_MAX = 64 * 1024 * 1024;

    /** The agent closed its end. */
    static final class AgentGone extends Exception {
        private static final long serialVersionUID = 1;
    }

    private final int descriptor;
    private final byte[] received = new byte[16384];
    private int begin;
    private int end;
    private boolean inStep;
    private boolean ended;

    Channel(int descriptor) throws IOException {
        this.descriptor = Native.copyHigh(descriptor);
        if (this.descriptor < 0) {
            throw new IOException("descriptor " + descriptor + " is no channel");
        }
        Native.close(descriptor);
    }

    /** Sends the first line of a step. */
    synchronized void beginStep(String line) {
        inStep = true;
        send(line);
    }

    /** Sends the last line of a step. */
    synchronized void endStep(String line) {
        inStep = false;
        send(line);
    }

    /** On any thread: the last line of a step that is under way, after which none is sent. */
    synchronized void endForGood(String line) {
        if (inStep) {
            send(line);
        }
        ended = true;
    }

    /** Sends a line. That the agent is gone shows when the next one is received. */
    void send(String line) {
        send(encode(line));
    }

    static byte[] encode(String line) {
        return (line + "\n").getBytes(StandardCharsets.US_ASCII);
    }

    /** Needs no memory. */
    synchronized void send(byte[] bytes) {
        if (ended) {
            return;
        }
        int sent = 0;
        while (sent < bytes.length) {
            int count = Native.write(descriptor, bytes, sent, bytes.length - sent);
            if (count < 0) {
                return;
            }
            sent += count;
        }
    }

    /** The next message. */
    Map<?, ?> receive() throws AgentGone {
        while (true) {
            try {
                if (JsonReader.read(nextLine()) instanceof Map<?, ?> message) {
                    return message;
                }
            } catch (JsonReader.BadJson e) {
                System.err.println("stepbox: a line on the channel is no JSON: " + e.getMessage());
            }
        }
    }

    /** Has the agent read both pipes empty. During a step it sends nothing but the answer. */
    void drain() {
        send("{\"type\":\"drain\"}");
        try {
            while (!"drained".equals(receive().get("type"))) {}
        } catch (AgentGone e) {
            // as is found when the next request is asked for
        }
    }

    private String nextLine() throws AgentGone {
        ByteArrayOutputStream line = new ByteArrayOutputStream(256);
        while (true) {
            if (begin == end) {
                fill();
            }
            int at = begin;
            while (at < end && received[at] != '\n') {
                at++;
            }
            line.write(received, begin, at - begin);
            boolean whole = at < end;
            begin = whole ? at + 1 : at;
            if (whole) {
                return line.toString(StandardCharsets.UTF_8);
            }
            if (line.size() > LINE_MAX) {
                System.err.println("stepbox: a line on the channel is too long");
                throw new AgentGone();
            }
        }
    }

    private void fill() throws AgentGone {
        begin = 0;
        end = 0;
        while (end == 0) {
            end = Native.read(descriptor, received, received.length);
        }
        if (end < 0) {
            end = 0;
            throw new AgentGone();
        }
    }
}
