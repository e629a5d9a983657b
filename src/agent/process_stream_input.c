/*
 * process_stream_input.c - StreamInput: messages of a request's body, each written in its turn.
 *
 * One message is written at a time; while the process does not take it the client is held back.
 */
#include "process_service.h"

#include "connect_frames.h"
#include "connect_messages.h"
#include "process.h"
#include "process_input_message.h"
#include "process_table.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define MESSAGE_MAX ((size_t)16 * 1024 * 1024)

struct input_stream {
    struct process_table *table;
    http_request *request;
    connect_frames frames;
    uint64_t process; /* the number of the one that was started with; 0: none yet */
    process_input_item item;
    process_input_result result; /* of the last item, once it is not queued any more */
    bool reading;                /* data() is at work: it looks at the item itself */
    bool ended;                  /* the client has sent everything */
};

static void free_stream(struct input_stream *stream) {
    connect_frames_free(&stream->frames);
    free(stream);
}

/* Answers, in the form of a stream of one message, or of an error. The stream is gone then. */
static void finish(struct input_stream *stream, const process_fault *fault) {
    http_request *request = stream->request;
    free_stream(stream);
    if (fault) {
        connect_stream_error(request, fault->code, fault->message);
        return;
    }
    http_stream *answer = http_stream_start(request, 200, CONNECT_STREAM_TYPE);
    if (connect_frame_send(answer, 0, json_object()) ||
        connect_frame_send(answer, CONNECT_END, json_object()))
        http_stream_abort(answer);
    else
        http_stream_end(answer);
}

static void on_written(void *user, process_input_result result) {
    struct input_stream *stream = user;
    process_fault fault;
    stream->result = result;
    if (stream->reading)
        return;
    if (!process_input_fault(result, &fault))
        finish(stream, &fault);
    else if (stream->ended)
        finish(stream, NULL);
    else
        http_body_resume(stream->request);
}

static void on_client_gone(void *user) {
    struct input_stream *stream = user;
    struct process *process = process_table_find_number(stream->table, stream->process);
    if (process)
        process_input_cancel(process, &stream->item);
    finish(stream, &(process_fault){.code = "canceled", .message = "the client has left"});
}

static bool take_start(struct input_stream *stream, const json_t *start, process_fault *fault) {
    process_selector selector;
    struct process *process = NULL;
    if (process_selector_read(start, &selector, fault))
        process = process_table_find(stream->table, &selector, fault);
    stream->process = process ? process->number : 0;
    return process != NULL;
}

static bool take_data(struct input_stream *stream, const json_t *data, process_fault *fault) {
    struct process *process = process_table_find_number(stream->table, stream->process);
    if (!stream->process)
        return process_fault_set(fault, "invalid_argument", "the first message must be start");
    if (!process)
        return process_fault_set(fault, "not_found", "the process has ended");
    if (!process_input_read(process, json_object_get(data, "input"), &stream->item, fault))
        return false;
    process_input_add(process, &stream->item);
    return stream->item.queued || process_input_fault(stream->result, fault);
}

static bool take_message(struct input_stream *stream, process_fault *fault) {
    json_error_t error;
    json_t *message =
        json_loadb(stream->frames.message, stream->frames.length, JSON_ALLOW_NUL, &error);
    const json_t *start = json_object_get(message, "start"),
                 *data = json_object_get(message, "data");
    bool fine;
    if (!message)
        fine = process_fault_set(fault, "invalid_argument", "%s", error.text);
    else if (json_is_object(start) && !data)
        fine = take_start(stream, start, fault);
    else if (json_is_object(data) && !start)
        fine = take_data(stream, data, fault);
    else
        fine = json_is_object(json_object_get(message, "keepalive")) ||
               process_fault_set(fault, "invalid_argument",
                                 "a message must be one of start, data and keepalive");
    json_decref(message);
    return fine;
}

/* What the parser says, or the message. */
static bool take_frame(struct input_stream *stream, connect_frames_result result,
                       process_fault *fault) {
    switch (result) {
    case CONNECT_FRAMES_MORE:
        return true;
    case CONNECT_FRAMES_WHOLE:
        return take_message(stream, fault);
    case CONNECT_FRAMES_FLAGS:
        return process_fault_set(fault, "unimplemented", "compressed messages are not taken");
    case CONNECT_FRAMES_LARGE:
        return process_fault_set(fault, "resource_exhausted", "a message is larger than %zu bytes",
                                 MESSAGE_MAX);
    case CONNECT_FRAMES_MEMORY:
        break;
    }
    return process_fault_set(fault, "resource_exhausted", "out of memory");
}

static size_t on_data(void *user, const char *bytes, size_t length) {
    struct input_stream *stream = user;
    process_fault fault;
    size_t used = 0;
    bool fine = true;
    stream->reading = true;
    while (fine && used < length && !stream->item.queued) {
        size_t part;
        connect_frames_result result =
            connect_frames_take(&stream->frames, bytes + used, length - used, &part);
        used += part;
        fine = take_frame(stream, result, &fault);
    }
    stream->reading = false;
    if (fine)
        return used;
    finish(stream, &fault);
    return length;
}

static void on_end(void *user) {
    struct input_stream *stream = user;
    stream->ended = true;
    if (connect_frames_within(&stream->frames))
        finish(stream, &(process_fault){"invalid_argument", "the last message is not whole"});
    else if (!stream->item.queued)
        finish(stream, NULL);
}

void process_service_stream_input(struct agent *agent, http_request *request) {
    static const http_body body = {.data = on_data, .end = on_end};
    const char *type = http_request_header(request, "Content-Type");
    if (!type || strncasecmp(type, CONNECT_STREAM_TYPE, strlen(CONNECT_STREAM_TYPE)) != 0) {
        http_reply_header(request, "Accept-Post", CONNECT_STREAM_TYPE);
        http_reply(request, 415, NULL, NULL, 0);
        return;
    }
    struct input_stream *stream = calloc(1, sizeof *stream);
    if (!stream) {
        connect_stream_error(request, "resource_exhausted", "out of memory");
        return;
    }
    stream->table = agent->processes;
    stream->request = request;
    stream->frames.max = MESSAGE_MAX;
    stream->item.done = on_written;
    stream->item.user = stream;
    http_request_on_gone(request, on_client_gone, stream);
    http_request_stream_body(request, &body, stream);
}
