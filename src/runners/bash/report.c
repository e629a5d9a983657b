/* report.c - see report.h */
#include "report.h"

#include "line.h"

#include <stdio.h>
#include <string.h>

static void send_text(const struct wire *wire, const char *text) {
    wire_send(wire, text, strlen(text));
}

void report_ready(const struct wire *wire) {
    send_text(wire, "{\"type\": \"ready\"}\n");
}

void report_count(const struct wire *wire, int count) {
    char text[80];
    snprintf(text, sizeof text, "{\"type\": \"number_of_executions\", \"execution_count\": %d}\n",
             count);
    send_text(wire, text);
}

static void add_member(struct line *line, const char *name, const char *bytes, size_t length) {
    line_add_text(line, ", \"");
    line_add_text(line, name);
    line_add_text(line, "\": ");
    line_add_string(line, bytes, length);
}

static void send_error(const struct wire *wire, const char *name, const char *value,
                       const char *traceback, size_t length) {
    struct line line = {0};
    line_add_text(&line, "{\"type\": \"error\"");
    add_member(&line, "name", name, strlen(name));
    add_member(&line, "value", value, strlen(value));
    add_member(&line, "traceback", traceback, length);
    line_add_text(&line, "}\n");
    if (line.failed)
        send_text(wire, "{\"type\": \"error\", \"name\": \"OutOfMemory\", \"value\": "
                        "\"The sandbox is out of memory\", \"traceback\": \"\"}\n");
    else
        wire_send(wire, line.bytes, line.length);
    line_free(&line);
}

void report_error(const struct wire *wire, const char *name, const char *value,
                  const char *traceback) {
    send_error(wire, name, value, traceback, strlen(traceback));
}

void report_outcome(const struct wire *wire, const struct shared_step *step) {
    char text[120];
    switch (step->outcome) {
    case OUTCOME_INTERRUPTED:
        report_error(wire, "KeyboardInterrupt", "", "");
        return;
    case OUTCOME_ERROR:
        send_error(wire, step->name, step->value, step->text, step->text_length);
        return;
    default:
        snprintf(text, sizeof text,
                 "{\"type\": \"result\", \"data\": {\"exit_status\": %d}, \"extra\": {}, "
                 "\"is_main_result\": true}\n",
                 (int)step->status);
        send_text(wire, text);
    }
}

void report_end(const struct wire *wire, bool leaving) {
    send_text(wire, leaving ? "{\"type\": \"end\", \"exit\": true}\n" : "{\"type\": \"end\"}\n");
}
