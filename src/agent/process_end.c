/* process_end.c - see process_end.h */
#include "process_end.h"

#include "connect_messages.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

int process_end_send_start(http_stream *stream, pid_t pid) {
    return connect_frame_send(stream, 0,
                              json_pack("{s:{s:{s:i}}}", "event", "start", "pid", (int)pid));
}

/* "exit status 3", "signal: killed": what Go calls them, and so E2B. */
static void describe(int status, char *text, size_t size) {
    if (WIFEXITED(status)) {
        snprintf(text, size, "exit status %d", WEXITSTATUS(status));
        return;
    }
    snprintf(text, size, "signal: %s", strsignal(WTERMSIG(status)));
    for (char *c = text; *c; c++)
        *c = *c >= 'A' && *c <= 'Z' ? (char)(*c | 0x20) : *c;
}

static json_t *end_event(int status) {
    char text[64];
    int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    describe(status, text, sizeof text);
    json_t *end =
        json_pack("{s:i, s:b, s:s}", "exitCode", code, "exited", WIFEXITED(status), "status", text);
    if (end && code != 0)
        json_object_set_new(end, "error", json_string(text));
    return json_pack("{s:{s:o}}", "event", "end", end);
}

void process_end_send_error(http_stream *stream, const char *code, const char *message) {
    json_t *last = json_pack("{s:o}", "error", connect_error(code, message));
    if (connect_frame_send(stream, CONNECT_END, last))
        http_stream_abort(stream);
    else
        http_stream_end(stream);
}

void process_end_send(http_stream *stream, const process_end *end) {
    if (end->late)
        process_end_send_error(stream, "deadline_exceeded",
                               "the command did not end in time and was killed");
    else if (connect_frame_send(stream, 0, end_event(end->status)) ||
             connect_frame_send(stream, CONNECT_END, json_object()))
        http_stream_abort(stream);
    else
        http_stream_end(stream);
}
