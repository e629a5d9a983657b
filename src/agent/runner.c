/* runner.c - what goes to and comes from a runner. */
#include "runner.h"

#include "json_scan.h"
#include "line_reader.h"
#include "log.h"
#include "outbox.h"
#include "output_pieces.h"
#include "runner_process.h"
#include "spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define READ_SIZE (64 * 1024)
/* Reads of a pipe in one turn of the loop before others get theirs. */
#define READS_PER_TURN 8
/* Bytes of the longest type of a message. */
#define TYPE_MAX 32

struct runner {
    struct ev_loop *loop;
    const runner_events *events;
    void *user;
    struct runner_request *request; /* the process is on its way; nothing below is open */
    pid_t pid;                      /* 0: not known yet */
    struct ev_child child;
    struct ev_io channel, pipes[OUTPUT_STREAMS];
    line_reader lines;
    struct outbox outbox;
    bool hold;
    bool beginning; /* a step was sent, and its first message has not come */
    bool channel_ended;
    bool exited;
    int status; /* when exited */
    bool ended; /* told */
    int busy;   /* calls of events under way: freeing waits for them */
    bool freed;
};

static void kill_all(const struct runner *runner) {
    if (runner->pid > 0)
        spawn_kill_all(runner->pid);
}

static void enter(struct runner *runner) {
    runner->busy++;
}

/* False when the runner was freed meanwhile: it is gone then. */
static bool leave(struct runner *runner) {
    if (--runner->busy || !runner->freed)
        return !runner->freed;
    line_reader_free(&runner->lines);
    free(runner);
    return false;
}

static void watch(struct runner *runner, struct ev_io *io, bool on) {
    if (on && io->fd >= 0)
        ev_io_start(runner->loop, io);
    else
        ev_io_stop(runner->loop, io);
}

static void close_io(struct runner *runner, struct ev_io *io) {
    ev_io_stop(runner->loop, io);
    if (io->fd >= 0)
        close(io->fd);
    io->fd = -1;
}

/* Reads at most `most` bytes of a pipe, once. Returns how many came; 0 when there are none now. */
static size_t read_pipe(struct runner *runner, int stream, size_t most, bool drop) {
    static char bytes[READ_SIZE];
    struct ev_io *io = &runner->pipes[stream];
    if (io->fd < 0)
        return 0;
    ssize_t got = read(io->fd, bytes, most < sizeof bytes ? most : sizeof bytes);
    if (got > 0) {
        if (!drop)
            runner->events->output(runner->user, stream, bytes, (size_t)got);
        return (size_t)got;
    }
    if (got == 0 || (errno != EAGAIN && errno != EINTR))
        close_io(runner, io);
    return 0;
}

/* Reads what both pipes hold now: what is written meanwhile does not keep us here. */
static void drain(struct runner *runner, bool drop) {
    for (int stream = 0; stream < OUTPUT_STREAMS && !runner->freed; stream++) {
        int left = 0;
        if (runner->pipes[stream].fd < 0 || ioctl(runner->pipes[stream].fd, FIONREAD, &left))
            continue;
        while (left > 0 && !runner->freed) {
            size_t got = read_pipe(runner, stream, (size_t)left, drop);
            if (!got)
                break;
            left -= (int)got;
        }
    }
}

static void on_pipe(struct ev_loop *loop, struct ev_io *io, int events) {
    (void)loop, (void)events;
    struct runner *runner = io->data;
    int stream = io == &runner->pipes[OUTPUT_STDERR] ? OUTPUT_STDERR : OUTPUT_STDOUT;
    enter(runner);
    for (int i = 0; i < READS_PER_TURN && !runner->hold && !runner->freed; i++) {
        if (read_pipe(runner, stream, READ_SIZE, false) < READ_SIZE)
            break;
    }
    leave(runner);
}

static void end_channel(struct runner *runner) {
    runner->channel_ended = true;
    outbox_close(&runner->outbox);
    close_io(runner, &runner->channel);
}

static void watch_pipes(struct runner *runner) {
    for (int stream = 0; stream < OUTPUT_STREAMS; stream++)
        watch(runner, &runner->pipes[stream], !runner->hold && !runner->beginning);
}

static void handle_line(struct runner *runner, const char *line, size_t length) {
    char type[TYPE_MAX];
    if (!json_object_type(line, length, type, sizeof type)) {
        log_warn("a runner sent a line that is no message; it is ended");
        kill_all(runner);
    } else if (strcmp(type, "drain") == 0) {
        drain(runner, false);
        if (!runner->freed && outbox_send(&runner->outbox, json_pack("{s:s}", "type", "drained")))
            kill_all(runner);
    } else {
        if (runner->beginning) {
            runner->beginning = false;
            watch_pipes(runner);
        } else {
            drain(runner, false);
        }
        if (!runner->freed)
            runner->events->message(runner->user, type, line, length);
    }
}

/* Learns which process the runner is, which the kernel says. False when that is not known yet. */
static bool read_hello(struct runner *runner) {
    pid_t pid = runner_process_hello(runner->channel.fd);
    if (pid < 0)
        end_channel(runner);
    if (pid <= 0)
        return false;
    runner->pid = pid;
    ev_child_set(&runner->child, pid, 0);
    ev_child_start(runner->loop, &runner->child);
    return true;
}

/* Handles the lines that are here. */
static void handle_lines(struct runner *runner) {
    size_t length;
    char *line;
    while (!runner->hold && !runner->freed && (line = line_reader_next(&runner->lines, &length)))
        handle_line(runner, line, length);
    if (runner->hold || runner->freed || runner->channel_ended ||
        !line_reader_is_over(&runner->lines))
        return;
    log_warn("a runner sent a line that is too long; it is ended");
    kill_all(runner);
    end_channel(runner);
}

/* The same, and reads; true when there may be more to read. */
static bool read_channel(struct runner *runner) {
    size_t room;
    if (runner->pid == 0 && !runner->channel_ended)
        return !runner->hold && !runner->freed && read_hello(runner);
    handle_lines(runner);
    if (runner->hold || runner->freed || runner->channel_ended)
        return false;
    char *to = line_reader_room(&runner->lines, &room);
    if (!to) {
        log_warn("out of memory for a runner's line; it is ended");
        kill_all(runner);
        end_channel(runner);
        return false;
    }
    ssize_t got = recv(runner->channel.fd, to, room, MSG_DONTWAIT);
    if (got > 0) {
        line_reader_put(&runner->lines, (size_t)got);
        return true;
    }
    if (got == 0 || (errno != EAGAIN && errno != EINTR))
        end_channel(runner);
    return false;
}

/* Tells the end when the process has exited or left the channel, and nothing is held back. */
static void tell_end(struct runner *runner) {
    if (runner->ended || runner->hold || runner->freed ||
        !(runner->exited || runner->channel_ended))
        return;
    while (read_channel(runner))
        ;
    if (runner->hold || runner->freed)
        return;
    drain(runner, false);
    if (runner->freed)
        return;
    runner->ended = true;
    runner->events->ended(runner->user);
}

static void on_channel(struct ev_loop *loop, struct ev_io *io, int events) {
    (void)loop, (void)events;
    struct runner *runner = io->data;
    enter(runner);
    for (int i = 0; i < READS_PER_TURN && read_channel(runner); i++)
        ;
    /* Whole lines that were read last are not left lying: nothing would wake us for them. */
    handle_lines(runner);
    tell_end(runner);
    leave(runner);
}

static void on_exit_of_child(struct ev_loop *loop, struct ev_child *child, int events) {
    (void)events;
    struct runner *runner = child->data;
    ev_child_stop(loop, child);
    log_debug("runner %d ended with status %#x", (int)runner->pid, (unsigned)child->rstatus);
    enter(runner);
    runner->exited = true;
    runner->status = child->rstatus;
    tell_end(runner);
    leave(runner);
}

/* Takes the ends of a process that has started, or is about to. */
static void adopt(struct runner *runner, const runner_ends *ends) {
    runner->pid = ends->pid;
    ev_child_init(&runner->child, on_exit_of_child, runner->pid, 0);
    ev_io_set(&runner->channel, ends->channel, EV_READ);
    outbox_open(&runner->outbox, ends->channel);
    ev_io_set(&runner->pipes[OUTPUT_STDOUT], ends->out, EV_READ);
    ev_io_set(&runner->pipes[OUTPUT_STDERR], ends->err, EV_READ);
    runner->child.data = runner;
    if (runner->pid > 0)
        ev_child_start(runner->loop, &runner->child);
    watch(runner, &runner->channel, !runner->hold);
    watch_pipes(runner);
    if (ends->begin)
        outbox_send(&runner->outbox, ends->begin);
}

/* The process that was asked for; without one the runner has ended. */
static void on_told(const runner_ends *ends, void *user) {
    struct runner *runner = user;
    runner->request = NULL;
    enter(runner);
    if (ends) {
        adopt(runner, ends);
    } else {
        log_error("cannot start a runner: %s", strerror(errno));
        runner->channel_ended = true;
        tell_end(runner);
    }
    leave(runner);
}

struct runner *runner_start(struct ev_loop *loop, const runner_options *options,
                            const runner_events *events, void *user) {
    runner_ends ends;
    struct runner *runner = calloc(1, sizeof *runner);
    if (!runner)
        return NULL;
    runner->loop = loop;
    runner->events = events;
    runner->user = user;
    runner->lines.max = RUNNER_LINE_MAX;
    ev_child_init(&runner->child, on_exit_of_child, 0, 0);
    ev_io_init(&runner->channel, on_channel, -1, EV_READ);
    outbox_init(&runner->outbox, loop);
    ev_io_init(&runner->pipes[OUTPUT_STDOUT], on_pipe, -1, EV_READ);
    ev_io_init(&runner->pipes[OUTPUT_STDERR], on_pipe, -1, EV_READ);
    /* What is there on both counts as written to stdout first. */
    ev_set_priority(&runner->pipes[OUTPUT_STDOUT], 1);
    runner->child.data = runner->channel.data = runner;
    runner->pipes[OUTPUT_STDOUT].data = runner->pipes[OUTPUT_STDERR].data = runner;
    if (!runner_process_take_spare(options, &ends)) {
        runner->request = runner_request_new(options, on_told, runner);
        if (runner->request)
            return runner;
        if (runner_process_start(options, &ends)) {
            free(runner);
            return NULL;
        }
    }
    adopt(runner, &ends);
    return runner;
}

void runner_free(struct runner *runner) {
    if (!runner || runner->freed)
        return;
    if (runner->request)
        runner_request_cancel(runner->request);
    runner->request = NULL;
    kill_all(runner);
    ev_child_stop(runner->loop, &runner->child);
    if (!runner->channel_ended)
        end_channel(runner);
    close_io(runner, &runner->pipes[OUTPUT_STDOUT]);
    close_io(runner, &runner->pipes[OUTPUT_STDERR]);
    runner->freed = true;
    enter(runner);
    leave(runner);
}

int runner_run(struct runner *runner, const json_t *code, const json_t *envs) {
    drain(runner, true);
    /* What the code writes comes after the message that its step has begun. */
    runner->beginning = true;
    watch_pipes(runner);
    json_t *message = json_pack("{s:s, s:O}", "type", "run", "code", (json_t *)code);
    if (message && json_object_set(message, "env", (json_t *)envs)) {
        json_t *none = envs ? NULL : json_object();
        if (json_object_set_new(message, "env", none)) {
            json_decref(message);
            message = NULL;
        }
    }
    return outbox_send(&runner->outbox, message);
}

void runner_interrupt(struct runner *runner) {
    if (!runner->exited && runner->pid > 0)
        kill(runner->pid, SIGINT);
}

void runner_hold(struct runner *runner, bool hold) {
    if (runner->hold == hold || runner->freed)
        return;
    runner->hold = hold;
    watch_pipes(runner);
    watch(runner, &runner->channel, !hold);
    /* Lines that were read already, and an end that was not told, wake nobody. */
    if (!hold && !runner->request)
        ev_feed_event(runner->loop, &runner->channel, EV_READ);
}

bool runner_was_killed(const struct runner *runner) {
    if (runner->exited)
        return WIFSIGNALED(runner->status) && WTERMSIG(runner->status) == SIGKILL;
    /* Its channel may have closed a moment before it is dead altogether. */
    for (int i = 0; i < 10; i++) {
        siginfo_t info = {0};
        if (waitid(P_PID, (id_t)runner->pid, &info, WEXITED | WNOHANG | WNOWAIT) < 0)
            return false;
        if (info.si_pid)
            return info.si_code == CLD_KILLED && info.si_status == SIGKILL;
        nanosleep(&(struct timespec){.tv_nsec = 50 * 1000}, NULL);
    }
    return false;
}
