/* process_output.c - reads what a process writes, as far as those who follow it keep up. */
#include "process.h"
#include "process_stream.h"
#include "spawn.h"

#include <errno.h>
#include <unistd.h>

/* Reads of a pipe in one turn of the loop before others get theirs. */
#define READS_PER_TURN 8
/* Seconds between looks at a terminal that no program has open. */
#define REOPENED_INTERVAL 0.1

static void close_pipe(struct process *process, int which) {
    struct ev_io *io = &process->pipes[which];
    ev_io_stop(process->loop, io);
    if (process->terminal)
        ev_timer_stop(process->loop, &process->reopened);
    if (io->fd >= 0) {
        if (process->terminal) /* the same descriptor */
            process_input_end(process,
                              process->exited ? PROCESS_INPUT_ENDED : PROCESS_INPUT_CLOSED);
        close(io->fd);
    }
    io->fd = -1;
}

bool process_output_is_open(const struct process *process) {
    return process->pipes[PROCESS_OUT].fd >= 0 || process->pipes[PROCESS_ERR].fd >= 0;
}

void process_output_close(struct process *process) {
    for (int which = 0; which < PROCESS_PIPES; which++)
        close_pipe(process, which);
}

void process_output_watch(struct process *process) {
    bool on = !process_streams_lag(process) && !ev_is_active(&process->reopened);
    for (int which = 0; which < PROCESS_PIPES; which++) {
        if (on && process->pipes[which].fd >= 0)
            ev_io_start(process->loop, &process->pipes[which]);
        else
            ev_io_stop(process->loop, &process->pipes[which]);
    }
}

/* What nobody follows counts for nothing. */
static void pass_on(struct process *process, int which, const unsigned char *bytes, size_t length) {
    if (process->terminal) {
        process_streams_send_data(process, "pty", bytes, length);
    } else if (process->streams) {
        length = output_budget_take(&process->budget, which, (const char *)bytes, length);
        if (!length)
            return;
        output_budget_piece(&process->budget, length);
        process_streams_send_data(process, which == PROCESS_OUT ? "stdout" : "stderr", bytes,
                                  length);
    }
}

/* Reads once. Returns how many bytes came; 0 when there are none now, or no more. */
static size_t read_pipe(struct process *process, int which) {
    static unsigned char bytes[PROCESS_DATA_MAX];
    ssize_t got = read(process->pipes[which].fd, bytes, sizeof bytes);
    if (got > 0) {
        pass_on(process, which, bytes, (size_t)got);
        return (size_t)got;
    }
    if (got < 0 && errno == EIO && process->terminal && !process->exited)
        ev_timer_again(process->loop, &process->reopened);
    else if (got == 0 || (errno != EAGAIN && errno != EINTR))
        close_pipe(process, which);
    return 0;
}

/* A terminal that no program has open says EIO. It is not closed before its process has exited: the
 * hangup could kill a process that has closed its descriptors and is about to exit. */
static void on_reopened(struct ev_loop *loop, struct ev_timer *timer, int events) {
    (void)events;
    struct process *process = timer->data;
    ev_timer_stop(loop, timer);
    process_output_watch(process);
}

void process_output_exited(struct process *process) {
    if (!ev_is_active(&process->reopened))
        return;
    ev_timer_stop(process->loop, &process->reopened);
    process_output_flush(process);
    process_output_watch(process);
}

void process_output_flush(struct process *process) {
    for (int which = 0; which < PROCESS_PIPES; which++) {
        size_t total = 0, got = 1;
        while (got && total < SPAWN_PIPE_SIZE && process->pipes[which].fd >= 0) {
            got = read_pipe(process, which);
            total += got;
        }
    }
}

static void on_pipe(struct ev_loop *loop, struct ev_io *io, int events) {
    (void)loop, (void)events;
    struct process *process = io->data;
    int which = io == &process->pipes[PROCESS_ERR] ? PROCESS_ERR : PROCESS_OUT;
    for (int i = 0; i < READS_PER_TURN && io->fd >= 0 && !process_streams_lag(process); i++) {
        if (!read_pipe(process, which))
            break;
    }
    process_output_watch(process);
    process_advance(process);
}

void process_output_init(struct process *process, int out, int err) {
    ev_io_init(&process->pipes[PROCESS_OUT], on_pipe, out, EV_READ);
    ev_io_init(&process->pipes[PROCESS_ERR], on_pipe, err, EV_READ);
    /* What is there on both counts as written to stdout first. */
    ev_set_priority(&process->pipes[PROCESS_OUT], 1);
    ev_timer_init(&process->reopened, on_reopened, 0.0, REOPENED_INTERVAL);
    process->pipes[PROCESS_OUT].data = process->pipes[PROCESS_ERR].data = process;
    process->reopened.data = process;
}
