/* process_input.c - see process_input.h */
#include "process.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

/* Bytes that may wait for one process. What is larger than that alone still gets its turn. */
#define WAITING_MAX ((size_t)32 * 1024 * 1024)

static void close_fd(struct process *process) {
    struct process_input *input = &process->input;
    ev_io_stop(process->loop, &input->writer);
    /* A terminal's master belongs to the output. */
    if (input->fd >= 0 && !process->terminal)
        close(input->fd);
    input->fd = -1;
}

/* Takes the item out of the queue. */
static void unlink_item(struct process_input *input, process_input_item *item) {
    process_input_item **at = &input->first;
    while (*at != item)
        at = &(*at)->next;
    *at = item->next;
    if (input->last == &item->next)
        input->last = at;
    input->waiting -= item->length;
    item->queued = false;
    item->next = NULL;
    free(item->bytes);
    item->bytes = NULL;
}

static void finish_first(struct process_input *input, process_input_result result) {
    process_input_item *item = input->first;
    unlink_item(input, item);
    item->done(item->user, result);
}

/* Writes as much of the item as the process takes now: 1 when that is all of it, 0 when it has to
 * wait, -1 when nobody reads. */
static int write_item(int fd, process_input_item *item) {
    while (item->written < item->length) {
        ssize_t written = write(fd, item->bytes + item->written, item->length - item->written);
        if (written > 0)
            item->written += (size_t)written;
        else if (written == 0 || errno == EAGAIN)
            return 0;
        else if (errno != EINTR)
            return -1;
    }
    return 1;
}

static void flush(struct process *process) {
    struct process_input *input = &process->input;
    while (input->first) {
        int state = input->fd >= 0 ? write_item(input->fd, input->first) : -1;
        if (state == 0) {
            ev_io_start(process->loop, &input->writer);
            return;
        }
        if (state < 0) {
            process_input_end(process, PROCESS_INPUT_CLOSED);
            return;
        }
        if (input->first->close)
            close_fd(process);
        finish_first(input, PROCESS_INPUT_TAKEN);
    }
    ev_io_stop(process->loop, &input->writer);
}

static void on_writable(struct ev_loop *loop, struct ev_io *io, int events) {
    (void)loop, (void)events;
    flush(io->data);
}

void process_input_init(struct process *process, int fd) {
    struct process_input *input = &process->input;
    *input = (struct process_input){.fd = fd, .last = &input->first};
    ev_io_init(&input->writer, on_writable, fd, EV_WRITE);
    input->writer.data = process;
}

bool process_input_accepts(const struct process *process, bool terminal, size_t length,
                           process_fault *fault) {
    const struct process_input *input = &process->input;
    int pid = (int)process->end.pid;
    if (terminal && !process->terminal)
        return process_fault_set(fault, "invalid_argument",
                                 "process with pid %d has no terminal: its input goes to stdin",
                                 pid);
    if (!terminal && process->terminal)
        return process_fault_set(fault, "invalid_argument",
                                 "process with pid %d is on a terminal: its input goes to pty, not "
                                 "to stdin",
                                 pid);
    if (input->fd < 0 || input->closing)
        return process_fault_set(fault, "failed_precondition",
                                 "the stdin of process with pid %d is closed", pid);
    if (input->waiting && length > WAITING_MAX - input->waiting)
        return process_fault_set(fault, "resource_exhausted",
                                 "too much input waits for process with pid %d already", pid);
    return true;
}

void process_input_add(struct process *process, process_input_item *item) {
    struct process_input *input = &process->input;
    bool waits = input->first != NULL;
    item->next = NULL;
    item->queued = true;
    input->closing |= item->close;
    input->waiting += item->length;
    *input->last = item;
    input->last = &item->next;
    if (!waits)
        flush(process);
}

void process_input_cancel(struct process *process, process_input_item *item) {
    struct process_input *input = &process->input;
    bool first = input->first == item;
    if (!item->queued)
        return;
    unlink_item(input, item);
    if (first)
        flush(process);
}

void process_input_end(struct process *process, process_input_result result) {
    close_fd(process);
    while (process->input.first)
        finish_first(&process->input, result);
}

bool process_input_fault(process_input_result result, process_fault *fault) {
    if (result == PROCESS_INPUT_CLOSED)
        return process_fault_set(fault, "failed_precondition",
                                 "the process does not read its input any more");
    if (result == PROCESS_INPUT_ENDED)
        return process_fault_set(fault, "not_found",
                                 "the process ended before it had taken the input");
    return true;
}
