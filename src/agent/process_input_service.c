/* process_input_service.c - SendInput and CloseStdin. */
#include "process_service.h"

#include "connect_messages.h"
#include "connect_unary.h"
#include "process.h"
#include "process_input_message.h"
#include "process_table.h"

#include <stdlib.h>

/* A call that is answered when its item is over. */
struct input_call {
    http_request *request;
    struct process_table *table;
    uint64_t process; /* its number */
    process_input_item item;
};

static void reply(http_request *request, bool fine, const process_fault *fault) {
    if (fine)
        connect_unary_reply(request, json_object());
    else
        connect_reply_error(request, fault->code, fault->message);
}

static void on_done(void *user, process_input_result result) {
    struct input_call *call = user;
    process_fault fault;
    reply(call->request, process_input_fault(result, &fault), &fault);
    free(call);
}

/* Nobody waits any more: what was not taken yet is not sent. */
static void on_client_gone(void *user) {
    struct input_call *call = user;
    http_request *request = call->request;
    struct process *process = process_table_find_number(call->table, call->process);
    if (process)
        process_input_cancel(process, &call->item);
    free(call);
    connect_reply_error(request, "canceled", "the client has left");
}

static struct input_call *new_call(http_request *request, const struct process *process) {
    struct input_call *call = calloc(1, sizeof *call);
    if (call)
        *call = (struct input_call){.request = request,
                                    .table = process->table,
                                    .process = process->number,
                                    .item = {.done = on_done, .user = call}};
    return call;
}

static struct process *find(struct agent *agent, const json_t *message, process_fault *fault) {
    process_selector selector;
    return process_selector_read(message, &selector, fault)
               ? process_table_find(agent->processes, &selector, fault)
               : NULL;
}

/* True when the call is under way, or over. */
static bool send_input(struct process *process, http_request *request, const json_t *message,
                       process_fault *fault) {
    process_input_item read = {0};
    if (!process_input_read(process, json_object_get(message, "input"), &read, fault))
        return false;
    struct input_call *call = new_call(request, process);
    if (!call) {
        free(read.bytes);
        return process_fault_set(fault, "resource_exhausted", "out of memory");
    }
    call->item.bytes = read.bytes;
    call->item.length = read.length;
    http_request_on_gone(request, on_client_gone, call);
    process_input_add(process, &call->item);
    return true;
}

void process_service_send_input(struct agent *agent, http_request *request) {
    process_fault fault;
    json_t *message = connect_unary_read(request);
    if (!message)
        return;
    struct process *process = find(agent, message, &fault);
    if (!process || !send_input(process, request, message, &fault))
        connect_reply_error(request, fault.code, fault.message);
    json_decref(message);
}

/* stdin is closed behind what is still to be written, also when the client does not wait for it. */
static void close_stdin(struct process *process, http_request *request) {
    process_fault fault;
    bool is_closed = process->input.fd < 0 || process->input.closing;
    if (process->terminal) {
        process_fault_set(
            &fault, "failed_precondition",
            "process with pid %d is on a terminal, whose input ends by sending it the "
            "byte 0x04",
            (int)process->end.pid);
        reply(request, false, &fault);
        return;
    }
    struct input_call *call = is_closed ? NULL : new_call(request, process);
    if (call) {
        call->item.close = true;
        process_input_add(process, &call->item);
    } else {
        process_fault_set(&fault, "resource_exhausted", "out of memory");
        reply(request, is_closed, &fault);
    }
}

void process_service_close_stdin(struct agent *agent, http_request *request) {
    process_fault fault;
    json_t *message = connect_unary_read(request);
    if (!message)
        return;
    struct process *process = find(agent, message, &fault);
    if (process)
        close_stdin(process, request);
    else
        connect_reply_error(request, fault.code, fault.message);
    json_decref(message);
}
