/*
 * process_input.h - what is to be written to a process's stdin or terminal, in order.
 */
#ifndef STEPBOX_PROCESS_INPUT_H
#define STEPBOX_PROCESS_INPUT_H

#include "process_fault.h"

#include <ev.h>
#include <stdbool.h>
#include <stddef.h>

struct process;

typedef enum process_input_result {
    PROCESS_INPUT_TAKEN,  /* the process has it, or will find it in its pipe */
    PROCESS_INPUT_CLOSED, /* nobody reads its stdin any more */
    PROCESS_INPUT_ENDED   /* the process ended before */
} process_input_result;

/* Bytes to be written, or the wish to have stdin closed. The caller's, until `done` is called or it
 * is cancelled; only the bytes are freed by the queue. */
typedef struct process_input_item {
    struct process_input_item *next;
    char *bytes;
    size_t length, written;
    bool close;
    bool queued;
    void (*done)(void *user, process_input_result result);
    void *user;
} process_input_item;

struct process_input {
    int fd; /* -1 when it is closed or there never was any */
    struct ev_io writer;
    process_input_item *first, **last;
    size_t waiting; /* bytes in all items */
    bool closing;   /* the last item closes */
};

/* fd, non-blocking: the pipe's end, which is the input's own, or the terminal's master, or -1. */
void process_input_init(struct process *process, int fd);
/* Whether `length` more bytes can be taken for the terminal, or for stdin. */
bool process_input_accepts(const struct process *process, bool terminal, size_t length,
                           process_fault *fault);
/* Only when it is accepted. `done` is called when it is over, perhaps at once. */
void process_input_add(struct process *process, process_input_item *item);
/* Takes back what was not written yet. Not for items that close. */
void process_input_cancel(struct process *process, process_input_item *item);
/* Closes, and tells all that wait. */
void process_input_end(struct process *process, process_input_result result);

/* What a result says to a client; true when it was taken. */
bool process_input_fault(process_input_result result, process_fault *fault);

#endif
