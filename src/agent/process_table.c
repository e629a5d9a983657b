/* process_table.c - see process_table.h */
#include "process_table.h"

#include "process.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PID_MAX 0x7fffffff

struct kept {
    process_end end; /* end.pid 0: forgotten */
    char *tag;       /* or NULL */
    double time;     /* of the monotonic clock */
};

struct process_table {
    struct agent *agent;
    struct process *processes; /* newest first, also those that have ended */
    uint64_t numbers;
    double lag;
    struct kept kept[PROCESS_ENDS_MAX]; /* a ring: the oldest is at `oldest` */
    size_t oldest, kept_count;
};

static double monotonic_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

struct process_table *process_table_new(struct agent *agent) {
    struct process_table *table = calloc(1, sizeof *table);
    if (!table)
        return NULL;
    table->agent = agent;
    table->lag = PROCESS_LAG_SECONDS;
    return table;
}

static struct kept *kept_at(struct process_table *table, size_t index) {
    return &table->kept[(table->oldest + index) % PROCESS_ENDS_MAX];
}

static void forget(struct kept *kept) {
    free(kept->tag);
    *kept = (struct kept){0};
}

static void forget_oldest(struct process_table *table) {
    forget(kept_at(table, 0));
    table->oldest = (table->oldest + 1) % PROCESS_ENDS_MAX;
    table->kept_count--;
}

void process_table_free(struct process_table *table) {
    if (!table)
        return;
    while (table->processes)
        process_free(table->processes);
    while (table->kept_count)
        forget_oldest(table);
    free(table);
}

struct agent *process_table_agent(const struct process_table *table) {
    return table->agent;
}

double process_table_lag(const struct process_table *table) {
    return table->lag;
}

void process_table_set_lag(struct process_table *table, double seconds) {
    table->lag = seconds;
}

static bool is_same_tag(const char *a, const char *b) {
    return a && b && strcmp(a, b) == 0;
}

void process_table_add(struct process_table *table, struct process *process) {
    for (size_t i = 0; i < table->kept_count; i++) {
        struct kept *kept = kept_at(table, i);
        if (kept->end.pid == process->end.pid || is_same_tag(kept->tag, process->tag))
            forget(kept);
    }
    process->number = ++table->numbers;
    process->next = table->processes;
    table->processes = process;
}

void process_table_retire(struct process_table *table, const struct process *process) {
    if (table->kept_count == PROCESS_ENDS_MAX)
        forget_oldest(table);
    struct kept *kept = kept_at(table, table->kept_count++);
    *kept = (struct kept){.end = process->end,
                          .tag = process->tag ? strdup(process->tag) : NULL,
                          .time = monotonic_seconds()};
}

void process_table_remove(struct process_table *table, struct process *process) {
    struct process **at = &table->processes;
    while (*at != process)
        at = &(*at)->next;
    *at = process->next;
}

static struct process *skip_ended(struct process *process) {
    while (process && process->ended)
        process = process->next;
    return process;
}

struct process *process_table_first(const struct process_table *table) {
    return skip_ended(table->processes);
}

struct process *process_table_next(const struct process *process) {
    return skip_ended(process->next);
}

bool process_selector_read(const json_t *message, process_selector *selector,
                           process_fault *fault) {
    const json_t *process = json_object_get(message, "process");
    const json_t *pid = json_object_get(process, "pid"), *tag = json_object_get(process, "tag");
    json_int_t number;
    *selector = (process_selector){0};
    if (json_is_null(pid))
        pid = NULL;
    if (json_is_null(tag))
        tag = NULL;
    if (!json_is_object(process) || !pid == !tag)
        return process_fault_set(fault, "invalid_argument", "process must have a pid or a tag");
    if (pid && !process_request_number(pid, PID_MAX, &number))
        return process_fault_set(fault, "invalid_argument", "process.pid must be a process's id");
    if (pid) {
        selector->pid = (pid_t)number;
        return true;
    }
    selector->tag = json_string_value(tag);
    return (selector->tag && strlen(selector->tag) == json_string_length(tag)) ||
           process_fault_set(fault, "invalid_argument", "process.tag must be a string without NUL");
}

static bool is_selected(const process_selector *selector, pid_t pid, const char *tag) {
    return selector->tag ? is_same_tag(selector->tag, tag) : selector->pid == pid;
}

struct process *process_table_find(const struct process_table *table,
                                   const process_selector *selector, process_fault *fault) {
    for (struct process *process = process_table_first(table); process;
         process = process_table_next(process)) {
        if (is_selected(selector, process->end.pid, process->tag))
            return process;
    }
    if (selector->tag)
        process_fault_set(fault, "not_found", "process with tag %.*s not found",
                          process_fault_quote(selector->tag), selector->tag);
    else
        process_fault_set(fault, "not_found", "process with pid %d not found", (int)selector->pid);
    return NULL;
}

struct process *process_table_find_number(const struct process_table *table, uint64_t number) {
    for (struct process *process = process_table_first(table); process;
         process = process_table_next(process)) {
        if (process->number == number)
            return process;
    }
    return NULL;
}

const process_end *process_table_find_end(struct process_table *table,
                                          const process_selector *selector) {
    double since = monotonic_seconds() - PROCESS_END_SECONDS;
    while (table->kept_count && kept_at(table, 0)->time < since)
        forget_oldest(table);
    for (size_t i = table->kept_count; i > 0; i--) {
        const struct kept *kept = kept_at(table, i - 1);
        if (kept->end.pid > 0 && is_selected(selector, kept->end.pid, kept->tag))
            return &kept->end;
    }
    return NULL;
}
