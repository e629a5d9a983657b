/*
 * process_table.h - the processes that were started, by pid and by tag, and for a while how they
 * ended.
 */
#ifndef STEPBOX_PROCESS_TABLE_H
#define STEPBOX_PROCESS_TABLE_H

#include "agent.h"
#include "process_end.h"
#include "process_fault.h"

#include <stdint.h>

/* How long, in seconds, and how many ends are kept for who asks late. */
#define PROCESS_END_SECONDS 30.0
#define PROCESS_ENDS_MAX 1024

struct process;

struct process_table *process_table_new(struct agent *agent);
/* Kills all processes; their streams are cut. */
void process_table_free(struct process_table *table);
struct agent *process_table_agent(const struct process_table *table);
/* Seconds that a client which lags has to catch up: PROCESS_LAG_SECONDS unless it is set. */
#define PROCESS_LAG_SECONDS 10.0
double process_table_lag(const struct process_table *table);
void process_table_set_lag(struct process_table *table, double seconds);

/* Takes a process that was started, and gives it its number. Ends of others with its pid or tag are
 * forgotten. */
void process_table_add(struct process_table *table, struct process *process);
/* The process has ended: it is not found any more, but its end is. */
void process_table_retire(struct process_table *table, const struct process *process);
void process_table_remove(struct process_table *table, struct process *process);

/* The first of the processes, the newest, that have not ended; and the next. */
struct process *process_table_first(const struct process_table *table);
struct process *process_table_next(const struct process *process);

/* Which process a message means: {"process": {"pid": ...}} or {"process": {"tag": ...}}. */
typedef struct process_selector {
    pid_t pid;
    const char *tag; /* the message's; NULL: by pid */
} process_selector;
bool process_selector_read(const json_t *message, process_selector *selector, process_fault *fault);

/* The process, or NULL and the fault. */
struct process *process_table_find(const struct process_table *table,
                                   const process_selector *selector, process_fault *fault);
struct process *process_table_find_number(const struct process_table *table, uint64_t number);
/* How a process that is not found any more ended, or NULL when that is not known. */
const process_end *process_table_find_end(struct process_table *table,
                                          const process_selector *selector);

#endif
