/*
 * command.c - see command.h
 *
 * The stream ends when the program has ended and its pipes are empty, or DRAIN_SECONDS later when
 * something that it left behind still holds them open. Such pipes are read on, into nothing, so
 * that what was left behind does not die of writing.
 */
#include "command.h"

#include "base64_encode.h"
#include "command_request.h"
#include "connect_messages.h"
#include "environment.h"
#include "log.h"
#include "spawn.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define READ_SIZE (32 * 1024)
#define READS_PER_TURN 8
#define DRAIN_SECONDS 0.2

enum { OUT, ERR, PIPES };

struct command {
    struct ev_loop *loop;
    http_stream *stream; /* NULL when the answer is over */
    pid_t pid;
    int status; /* of wait(2), when it has exited */
    bool exited;
    bool late; /* it was killed for its deadline */
    struct ev_child child;
    struct ev_io pipes[PIPES];
    struct ev_timer keepalive, deadline, drain;
};

static void close_pipe(struct command *command, int which) {
    struct ev_io *io = &command->pipes[which];
    ev_io_stop(command->loop, io);
    if (io->fd >= 0)
        close(io->fd);
    io->fd = -1;
}

static bool has_pipes(const struct command *command) {
    return command->pipes[OUT].fd >= 0 || command->pipes[ERR].fd >= 0;
}

static void free_if_over(struct command *command) {
    if (command->stream || !command->exited || has_pipes(command))
        return;
    ev_timer_stop(command->loop, &command->drain);
    free(command);
}

static void watch_pipes(struct command *command, bool on) {
    for (int which = 0; which < PIPES; which++) {
        if (on && command->pipes[which].fd >= 0)
            ev_io_start(command->loop, &command->pipes[which]);
        else
            ev_io_stop(command->loop, &command->pipes[which]);
    }
}

/* The answer is over, whole or not. */
static void close_stream(struct command *command, bool whole) {
    http_stream *stream = command->stream;
    command->stream = NULL;
    ev_timer_stop(command->loop, &command->keepalive);
    ev_timer_stop(command->loop, &command->deadline);
    watch_pipes(command, true);
    if (whole)
        http_stream_end(stream);
    else
        http_stream_abort(stream);
}

/* Sends {"event": {name: value}}; takes the reference. Without memory the answer is cut. */
static void send_event(struct command *command, const char *name, json_t *value) {
    if (!command->stream) {
        json_decref(value);
        return;
    }
    json_t *message = json_pack("{s:{s:o}}", "event", name, value);
    if (connect_frame_send(command->stream, 0, message)) {
        log_error("out of memory: the answer to a command is cut");
        close_stream(command, false);
        spawn_kill_all(command->pid);
    }
    if (command->stream)
        ev_timer_again(command->loop, &command->keepalive);
}

static void send_data(struct command *command, int which, const unsigned char *bytes,
                      size_t length) {
    static char text[BASE64_SIZE(READ_SIZE)];
    base64_encode(bytes, length, text);
    send_event(command, "data",
               json_pack("{s:s%}", which == OUT ? "stdout" : "stderr", text, BASE64_SIZE(length)));
    if (command->stream && http_stream_pending(command->stream) > HTTP_STREAM_HIGH)
        watch_pipes(command, false);
}

static void on_client_ready(void *user) {
    watch_pipes(user, true);
}

static void send_end(struct command *command) {
    char status[64];
    int code = WIFEXITED(command->status) ? WEXITSTATUS(command->status) : -1;
    if (code >= 0)
        snprintf(status, sizeof status, "exit status %d", code);
    else
        snprintf(status, sizeof status, "signal: %s", strsignal(WTERMSIG(command->status)));
    for (char *c = status; code < 0 && *c; c++)
        *c = *c >= 'A' && *c <= 'Z' ? (char)(*c | 0x20) : *c;
    json_t *end = json_pack("{s:i, s:b, s:s}", "exitCode", code, "exited",
                            WIFEXITED(command->status), "status", status);
    if (end && code != 0)
        json_object_set_new(end, "error", json_string(status));
    send_event(command, "end", end);
}

static void finish(struct command *command) {
    ev_timer_stop(command->loop, &command->drain);
    if (command->stream) {
        json_t *last = json_object();
        if (command->late)
            json_object_set_new(last, "error",
                                connect_error("deadline_exceeded",
                                              "the command did not end in time and was killed"));
        else
            send_end(command);
        if (command->stream)
            close_stream(command, connect_frame_send(command->stream, CONNECT_END, last) == 0);
        else
            json_decref(last);
    }
    free_if_over(command);
}

/* True when the pipe may have more. */
static bool read_pipe(struct command *command, int which) {
    static unsigned char bytes[READ_SIZE];
    ssize_t got = read(command->pipes[which].fd, bytes, sizeof bytes);
    if (got > 0) {
        if (command->stream)
            send_data(command, which, bytes, (size_t)got);
        return got == sizeof bytes;
    }
    if (got == 0 || (errno != EAGAIN && errno != EINTR))
        close_pipe(command, which);
    return false;
}

static void on_pipe(struct ev_loop *loop, struct ev_io *io, int events) {
    (void)loop, (void)events;
    struct command *command = io->data;
    int which = io == &command->pipes[ERR] ? ERR : OUT;
    for (int i = 0; i < READS_PER_TURN && ev_is_active(io) && read_pipe(command, which); i++)
        ;
    if (command->exited && !has_pipes(command))
        finish(command);
}

static void on_drained(struct ev_loop *loop, struct ev_timer *timer, int events) {
    (void)events;
    struct command *command = timer->data;
    /* A client that is slow gets its time: the pipes may hold what the program itself wrote. */
    if (command->stream && http_stream_pending(command->stream) > HTTP_STREAM_HIGH / 2) {
        ev_timer_set(timer, DRAIN_SECONDS, 0.0);
        ev_timer_start(loop, timer);
        return;
    }
    finish(command);
}

static void on_exit_of_child(struct ev_loop *loop, struct ev_child *child, int events) {
    (void)events;
    struct command *command = child->data;
    ev_child_stop(loop, child);
    command->exited = true;
    command->status = child->rstatus;
    if (!has_pipes(command)) {
        finish(command);
    } else if (command->stream) {
        ev_timer_set(&command->drain, DRAIN_SECONDS, 0.0);
        ev_timer_start(loop, &command->drain);
    }
}

static void on_keepalive(struct ev_loop *loop, struct ev_timer *timer, int events) {
    (void)loop, (void)events;
    send_event(timer->data, "keepalive", json_object());
}

static void on_deadline(struct ev_loop *loop, struct ev_timer *timer, int events) {
    (void)loop, (void)events;
    struct command *command = timer->data;
    command->late = true;
    spawn_kill_all(command->pid);
}

static void on_client_gone(void *user) {
    struct command *command = user;
    close_stream(command, false);
    spawn_kill_all(command->pid);
    free_if_over(command);
}

static pid_t start_program(const struct agent *agent, const command_request *parsed, int out,
                           int err, spawn_stage *stage) {
    char **envp = environment_make(agent->envs, parsed->envs);
    pid_t pid = -1;
    *stage = SPAWN_FORK;
    errno = ENOMEM;
    /* "stdin": true gets an empty input like false: there is no call yet that could write to it. */
    if (envp)
        pid = spawn_program(&(spawn_options){.argv = parsed->argv,
                                             .envp = envp,
                                             .cwd = parsed->cwd      ? parsed->cwd
                                                    : agent->workdir ? agent->workdir
                                                                     : agent->home,
                                             .other_cwd = parsed->cwd ? NULL : "/",
                                             .out = out,
                                             .err = err,
                                             .channel = -1},
                            stage);
    int saved = errno;
    free(envp);
    errno = saved;
    return pid;
}

static void reply_not_started(http_request *request, const command_request *parsed,
                              spawn_stage stage, int error) {
    char text[512];
    const char *code = error == EAGAIN || error == ENOMEM || error == EMFILE || error == ENFILE
                           ? "resource_exhausted"
                           : "invalid_argument";
    if (stage == SPAWN_CWD)
        snprintf(text, sizeof text, "cannot enter the working directory '%.300s': %s", parsed->cwd,
                 strerror(error));
    else if (stage == SPAWN_EXEC)
        snprintf(text, sizeof text, "cannot run '%.300s': %s", parsed->argv[0], strerror(error));
    else
        snprintf(text, sizeof text, "cannot start a process: %s", strerror(error));
    if (error == ENOENT && stage == SPAWN_EXEC)
        code = "not_found";
    connect_stream_error(request, code, text);
}

static void begin(struct command *command, http_request *request, const command_request *parsed,
                  int out, int err) {
    command->loop = http_request_loop(request);
    ev_child_init(&command->child, on_exit_of_child, command->pid, 0);
    ev_io_init(&command->pipes[OUT], on_pipe, out, EV_READ);
    ev_io_init(&command->pipes[ERR], on_pipe, err, EV_READ);
    /* What is there on both counts as written to stdout first. */
    ev_set_priority(&command->pipes[OUT], 1);
    ev_timer_init(&command->keepalive, on_keepalive, parsed->keepalive, parsed->keepalive);
    ev_timer_init(&command->deadline, on_deadline, parsed->timeout, 0.0);
    ev_timer_init(&command->drain, on_drained, 0.0, 0.0);
    command->child.data = command->pipes[OUT].data = command->pipes[ERR].data = command;
    command->keepalive.data = command->deadline.data = command->drain.data = command;
    ev_child_start(command->loop, &command->child);
    watch_pipes(command, true);
    if (parsed->timeout > 0.0)
        ev_timer_start(command->loop, &command->deadline);
    http_request_on_gone(request, on_client_gone, command);
    command->stream = http_stream_start(request, 200, CONNECT_STREAM_TYPE);
    http_stream_on_drain(command->stream, on_client_ready, command);
    send_event(command, "start", json_pack("{s:i}", "pid", (int)command->pid));
}

void command_start(struct agent *agent, http_request *request) {
    command_request parsed;
    if (command_request_read(request, &parsed))
        return;
    spawn_stage stage = SPAWN_FORK;
    int out[2] = {-1, -1}, err[2] = {-1, -1}, error = ENOMEM;
    struct command *command = calloc(1, sizeof *command);
    if (command) {
        command->pid = -1;
        if (spawn_pipe(out) == 0 && spawn_pipe(err) == 0)
            command->pid = start_program(agent, &parsed, out[1], err[1], &stage);
        error = errno;
    }
    if (out[1] >= 0)
        close(out[1]);
    if (err[1] >= 0)
        close(err[1]);
    if (command && command->pid > 0) {
        begin(command, request, &parsed, out[0], err[0]);
    } else {
        if (out[0] >= 0)
            close(out[0]);
        if (err[0] >= 0)
            close(err[0]);
        free(command);
        reply_not_started(request, &parsed, stage, error);
    }
    command_request_free(&parsed);
}
