/* channel.c - see channel.h */
#include "channel.h"
#include "interrupts.h"

#include "request.h"
#include "step_environment.h"
#include "wire.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static struct {
    struct wire wire;
    pid_t pid;
    bool in_step;
    int writer; /* the stream that was written to last; 0 after an event */
    int executions;
    struct request request; /* of the step */
    const char *fault;
    char fault_text[REQUEST_FAULT_MAX];
} channel;

int channel_open(int descriptor) {
    channel.pid = getpid();
    return wire_open(&channel.wire, descriptor);
}

bool channel_is_ours(void) {
    return channel.pid == getpid();
}

void channel_send(const char *line, size_t length) {
    if (!channel_is_ours())
        return;
    wire_send(&channel.wire, line, length);
    wire_send(&channel.wire, "\n", 1);
    channel.writer = 0;
}

static void send_text(const char *line) {
    channel_send(line, strlen(line));
}

/* The next line, which may be waited for. The type is unknown when the agent is gone. */
static struct request next_request(bool *gone) {
    size_t length;
    char *line;
    *gone = false;
    while (!(line = wire_next(&channel.wire, &length))) {
        if (!wire_fill(&channel.wire)) {
            *gone = true;
            return (struct request){0};
        }
    }
    return request_read(line, length);
}

/* An agent that is gone is found by step_wait(), too. */
static void drain(void) {
    bool gone = false, drained = false;
    send_text("{\"type\":\"drain\"}");
    while (!gone && !drained) {
        struct request answer = next_request(&gone);
        drained = answer.type == REQUEST_DRAINED;
        request_free(&answer);
    }
}

static void turn_to(int stream) {
    if (channel.writer == stream)
        return;
    if (channel.in_step && channel_is_ours())
        drain();
    channel.writer = stream;
}

static void wait_writable(int fd) {
    struct pollfd wait = {.fd = fd, .events = POLLOUT};
    poll(&wait, 1, -1);
}

void channel_write(int stream, const char *bytes, size_t length) {
    turn_to(stream);
    while (length > 0) {
        ssize_t written = write(stream, bytes, length);
        if (written >= 0) {
            bytes += written;
            length -= (size_t)written;
        } else if (errno == EAGAIN) {
            wait_writable(stream); /* a program that the code started made it non-blocking */
        } else if (errno != EINTR) {
            return; /* the code closed it */
        }
    }
}

void channel_hand_over(void) {
    turn_to(0);
}

bool step_wait(void) {
    bool gone = false;
    char count[80];
    while (channel.request.type != REQUEST_RUN) {
        request_free(&channel.request);
        channel.request = next_request(&gone);
        if (gone)
            return false;
    }
    channel.fault = request_env_fault(&channel.request, channel.fault_text);
    if (!channel.fault && !step_environment_set(channel.request.env))
        channel.fault = "out of memory for environment variables";
    snprintf(count, sizeof count, "{\"type\":\"number_of_executions\",\"execution_count\":%d}",
             ++channel.executions);
    interrupts_begin_step(); /* the agent may interrupt what it knows to have begun */
    send_text(count);
    channel.in_step = true;
    return true;
}

const char *step_code(size_t *length, const char **why) {
    *why = channel.fault;
    if (channel.fault)
        return NULL;
    *length = json_string_length(channel.request.code);
    const char *code = json_string_value(channel.request.code);
    if (strlen(code) == *length)
        return code;
    *why = "there is a NUL in the code";
    return NULL;
}

void step_end(bool leaving) {
    if (!channel_is_ours() || !channel.in_step)
        return;
    step_environment_restore();
    request_free(&channel.request);
    channel.in_step = false;
    send_text(leaving ? "{\"type\":\"end\",\"exit\":true}" : "{\"type\":\"end\"}");
}
