/*
 * process.h - one process of the process service and its life: process.c starts and ends it,
 * process_output.c reads what it writes, process_input.c writes what it reads, process_stream.c has
 * those who follow it.
 *
 * It lives on when nobody follows it; what it writes is dropped then. It has ended when the program
 * has exited and its pipes are empty, or PROCESS_DRAIN_SECONDS later when something that it left
 * behind still holds them open. Such pipes are read on, into nothing, so that what was left behind
 * does not die of writing.
 */
#ifndef STEPBOX_AGENT_PROCESS_H
#define STEPBOX_AGENT_PROCESS_H

#include "output_budget.h"
#include "process_end.h"
#include "process_input.h"
#include "process_request.h"

#include <stdint.h>

#define PROCESS_DRAIN_SECONDS 0.2

enum { PROCESS_OUT, PROCESS_ERR, PROCESS_PIPES };

struct process_stream;
struct process_table;

struct process {
    struct process *next; /* in the table */
    struct process_table *table;
    struct ev_loop *loop;
    uint64_t number; /* no other process ever has it */
    json_t *config;  /* as List shows it */
    char *tag;       /* or NULL */
    process_end end; /* end.status is known when it has exited */
    bool exited;
    bool ended;    /* told to all; only its pipes may be left */
    bool terminal; /* on a terminal: its master is the one pipe, and takes the input too */
    struct ev_child child;
    struct ev_io pipes[PROCESS_PIPES];
    struct ev_timer deadline, drain, reopened;
    struct process_stream *streams;
    struct process_input input;
    output_budget budget; /* not of a terminal, whose output is looked at and not kept */
};

/* Starts a program. NULL: *fault says why it cannot be. */
struct process *process_start(struct process_table *table, const process_request *request,
                              process_fault *fault);
/* Kills it with all it started. */
void process_kill(struct process *process);
/* Sends a signal to its process group, or kills all for SIGKILL. False: *fault says why not. */
bool process_signal(struct process *process, int number, process_fault *fault);
/* For the pipes: ends the process when it has exited and nothing more is to be read, and frees it
 * when it has ended. It may be gone afterwards. */
void process_advance(struct process *process);
/* Kills and frees it, in whatever state; its streams are cut. */
void process_free(struct process *process);

/* process_output.c. Starts, or stops while somebody who follows lags, reading. */
void process_output_init(struct process *process, int out, int err);
void process_output_watch(struct process *process);
bool process_output_is_open(const struct process *process);
/* Reads what is there now, as far as a full pipe goes. */
void process_output_flush(struct process *process);
/* The process has exited: a terminal that nothing has open is closed. */
void process_output_exited(struct process *process);
void process_output_close(struct process *process);

#endif
