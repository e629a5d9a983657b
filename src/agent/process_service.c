/* process_service.c - see process_service.h; the calls about input are in
 * process_input_service.c and process_stream_input.c. */
#include "process_service.h"

#include "connect_messages.h"
#include "connect_stream.h"
#include "connect_unary.h"
#include "process_stream.h"
#include "process_table.h"
#include "pty.h"
#include "user.h"

#include <signal.h>
#include <string.h>

#define SIGNAL_MAX 64

void process_service_start(struct agent *agent, http_request *request) {
    process_fault fault;
    process_request parsed;
    process_stream_options options;
    struct process *process = NULL;
    json_t *message = connect_stream_read(request);
    if (!message)
        return;
    if (!user_of_request_enter(request)) {
        json_decref(message);
        connect_stream_error(request, "unauthenticated", user_unknown());
        return;
    }
    if (process_request_read(agent, request, message, &parsed, &fault))
        process = process_start(agent->processes, &parsed, &fault);
    process_request_free(&parsed);
    process_stream_read_options(request, &options);
    if (!process)
        connect_stream_error(request, fault.code, fault.message);
    else if (process_stream_open(process, request, &options))
        process_kill(process); /* nobody learns of it */
}

void process_service_connect(struct agent *agent, http_request *request) {
    process_fault fault;
    process_selector selector;
    process_stream_options options;
    json_t *message = connect_stream_read(request);
    if (!message)
        return;
    process_stream_read_options(request, &options);
    options.bound = false;
    if (!process_selector_read(message, &selector, &fault) ||
        !process_request_timeout(request, &options.timeout, &fault)) {
        connect_stream_error(request, fault.code, fault.message);
        json_decref(message);
        return;
    }
    struct process *process = process_table_find(agent->processes, &selector, &fault);
    const process_end *end = process ? NULL : process_table_find_end(agent->processes, &selector);
    if (process) {
        process_stream_open(process, request, &options);
    } else if (end) {
        http_stream *stream = http_stream_start(request, 200, CONNECT_STREAM_TYPE);
        if (process_end_send_start(stream, end->pid))
            http_stream_abort(stream);
        else
            process_end_send(stream, end);
    } else {
        connect_stream_error(request, fault.code, fault.message);
    }
    json_decref(message);
}

/* ProcessInfo. */
static json_t *describe(const struct process *process) {
    return json_pack("{s:O, s:i, s:s*}", "config", process->config, "pid", (int)process->end.pid,
                     "tag", process->tag);
}

void process_service_list(struct agent *agent, http_request *request) {
    json_t *message = connect_unary_read(request);
    if (!message)
        return;
    json_decref(message);
    json_t *list = json_array();
    for (const struct process *process = process_table_first(agent->processes); process;
         process = process_table_next(process)) {
        if (!process->exited)
            json_array_append_new(list, describe(process));
    }
    connect_unary_reply(request, json_pack("{s:o}", "processes", list));
}

/* Reads a unary call and finds its process. NULL: the request has been answered. */
static json_t *read_call(struct agent *agent, http_request *request, struct process **process) {
    process_fault fault;
    process_selector selector;
    json_t *message = connect_unary_read(request);
    if (!message)
        return NULL;
    *process = process_selector_read(message, &selector, &fault)
                   ? process_table_find(agent->processes, &selector, &fault)
                   : NULL;
    if (*process)
        return message;
    connect_reply_error(request, fault.code, fault.message);
    json_decref(message);
    return NULL;
}

static bool resize(const struct process *process, const json_t *pty, process_fault *fault) {
    unsigned cols, rows;
    if (!process_request_size(pty, &cols, &rows, fault))
        return false;
    if (!process->terminal)
        return process_fault_set(fault, "invalid_argument", "process with pid %d has no terminal",
                                 (int)process->end.pid);
    int master = process->pipes[PROCESS_OUT].fd;
    return (master >= 0 && pty_resize(master, cols, rows) == 0) ||
           process_fault_set(fault, "failed_precondition",
                             "the terminal of process with pid %d is closed",
                             (int)process->end.pid);
}

void process_service_update(struct agent *agent, http_request *request) {
    struct process *process;
    process_fault fault;
    json_t *message = read_call(agent, request, &process);
    if (!message)
        return;
    const json_t *pty = json_object_get(message, "pty");
    if (!pty || json_is_null(pty) || resize(process, pty, &fault))
        connect_unary_reply(request, json_object());
    else
        connect_reply_error(request, fault.code, fault.message);
    json_decref(message);
}

/* The number of a signal in a message; 0 when there is no such. */
static int read_signal(const json_t *value) {
    static const char prefix[] = "SIGNAL_SIG";
    const char *name = json_string_value(value);
    json_int_t number;
    if (name && strncmp(name, prefix, sizeof prefix - 1) == 0) {
        for (int candidate = 1; candidate <= SIGNAL_MAX; candidate++) {
            const char *known = sigabbrev_np(candidate);
            if (known && strcmp(known, name + sizeof prefix - 1) == 0)
                return candidate;
        }
        return 0;
    }
    return process_request_number(value, SIGNAL_MAX, &number) ? (int)number : 0;
}

void process_service_send_signal(struct agent *agent, http_request *request) {
    struct process *process;
    process_fault fault;
    json_t *message = read_call(agent, request, &process);
    if (!message)
        return;
    int number = read_signal(json_object_get(message, "signal"));
    if (number == 0)
        connect_reply_error(request, "invalid_argument",
                            "signal must be a number from 1 to 64 or a name such as "
                            "SIGNAL_SIGTERM");
    else if (process_signal(process, number, &fault))
        connect_unary_reply(request, json_object());
    else
        connect_reply_error(request, fault.code, fault.message);
    json_decref(message);
}
