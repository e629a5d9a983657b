#include "step_stream.h"

#include "dropped.h"
#include "output_line.h"
#include "text.h"
#include "timestamp.h"

#include <stdlib.h>
#include <string.h>

void sbi_step_stream_init(struct sbi_step_stream *stream, struct sbi_execution *execution) {
    *stream = (struct sbi_step_stream){.execution = execution};
    sbi_lines_init(&stream->lines, SBI_MAX_LINE);
    sbi_buffer_init(&stream->text, SBI_MAX_LINE);
}

void sbi_step_stream_free(struct sbi_step_stream *stream) {
    sbi_lines_free(&stream->lines);
    sbi_buffer_free(&stream->text);
}

/* JSON as a server of Python writes it: characters that are half a pair, and integers beyond an
 * int64, which become reals, are no reason to lose a step's results. */
static json_t *parse(const char *line, size_t length) {
    json_error_t why;
    json_t *root = json_loadb(line, length, JSON_ALLOW_NUL, &why);
    if (root != NULL) {
        return root;
    }
    char *mended = malloc(length);
    if (mended == NULL) {
        return NULL;
    }
    memcpy(mended, line, length);
    if (sbi_json_mend_surrogates(mended, length)) {
        root = json_loadb(mended, length, JSON_ALLOW_NUL, &why);
    }
    if (root == NULL && json_error_code(&why) == json_error_numeric_overflow) {
        root = json_loadb(mended, length, JSON_ALLOW_NUL | JSON_DECODE_INT_AS_REAL, NULL);
    }
    free(mended);
    return root;
}

static double time_of(const char *text, size_t length) {
    double seconds;
    return text != NULL && sbi_timestamp_parse(text, length, &seconds) ? seconds : sbi_wall_clock();
}

/* The common line, without a tree of JSON. 1: taken, 0: it is another kind, -1: err. */
static int take_output_line(struct sbi_step_stream *stream, const char *line, size_t length,
                            sb_error *err) {
    struct sbi_output_line output;
    if (!sbi_output_line_read(line, length, &output)) {
        return 0;
    }
    sbi_buffer_clear(&stream->text, 1024 * 1024);
    sb_code code = sbi_json_unescape(&stream->text, output.text, output.text_length);
    if (code == SB_PROTOCOL) {
        return 0;
    }
    if (code != SB_OK) {
        return sbi_no_memory(err);
    }
    double time = time_of(output.timestamp, output.timestamp_length);
    return sbi_execution_add_output(stream->execution, output.stream, time,
                                    sbi_buffer_string(&stream->text), stream->text.length, err) != 0
               ? -1
               : 1;
}

static int take_output(struct sbi_step_stream *stream, sb_stream which, const json_t *line,
                       sb_error *err) {
    const json_t *text = json_object_get(line, "text");
    const json_t *timestamp = json_object_get(line, "timestamp");
    if (!json_is_string(text)) {
        return sbi_fail(err, SB_PROTOCOL, "output without a text");
    }
    double time = time_of(json_string_value(timestamp), json_string_length(timestamp));
    return sbi_execution_add_output(stream->execution, which, time, json_string_value(text),
                                    json_string_length(text), err);
}

/* Errors of the server's own, which it reports as if the code had raised them. */
static bool is_lost(const char *name, const json_t *line) {
    static const char *const names[] = {"ContextRestarting", "WebSocketError",
                                        "UnexpectedEndOfExecution"};
    const json_t *traceback = json_object_get(line, "traceback");
    if (json_is_string(traceback) && json_string_length(traceback) > 0) {
        return false;
    }
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(name, names[i]) == 0) {
            return true;
        }
    }
    return false;
}

static int take_error(struct sbi_step_stream *stream, const json_t *line, sb_error *err) {
    const char *name = json_string_value(json_object_get(line, "name"));
    const char *value = json_string_value(json_object_get(line, "value"));
    if (name == NULL || !is_lost(name, line)) {
        return sbi_execution_set_error(stream->execution, line, err);
    }
    if (stream->lost.code == SB_OK) {
        sbi_fail(&stream->lost, SB_CONTEXT_LOST, "the code's runner is gone: %s",
                 value != NULL && value[0] != '\0' ? value : name);
    }
    return 0;
}

static int take_event(struct sbi_step_stream *stream, const char *type, const json_t *line,
                      sb_error *err) {
    struct sbi_execution *execution = stream->execution;
    if (strcmp(type, "stdout") == 0) {
        return take_output(stream, SB_STDOUT, line, err);
    }
    if (strcmp(type, "stderr") == 0 &&
        sbi_dropped_take(line, &execution->dropped, &execution->out_truncated,
                         &execution->err_truncated)) {
        return 0;
    }
    if (strcmp(type, "stderr") == 0) {
        return take_output(stream, SB_STDERR, line, err);
    }
    if (strcmp(type, "result") == 0) {
        return sbi_execution_add_result(execution, line, err);
    }
    if (strcmp(type, "error") == 0) {
        return take_error(stream, line, err);
    }
    if (strcmp(type, "number_of_executions") == 0) {
        const json_t *count = json_object_get(line, "execution_count");
        if (json_is_integer(count)) {
            execution->count = json_integer_value(count);
        }
        execution->restarted |= json_is_true(json_object_get(line, "restarted"));
    }
    stream->has_ended |= strcmp(type, "end_of_execution") == 0;
    /* "keepalive", and kinds that do not exist yet, say nothing here. */
    return 0;
}

static int take_line(struct sbi_step_stream *stream, const char *line, size_t length,
                     sb_error *err) {
    if (length == 0 || (length == 1 && line[0] == '\r')) {
        return 0;
    }
    int taken = take_output_line(stream, line, length, err);
    if (taken != 0) {
        return taken < 0 ? -1 : 0;
    }
    json_t *root = parse(line, length);
    const char *type = json_string_value(json_object_get(root, "type"));
    int status;
    if (type != NULL) {
        status = take_event(stream, type, root, err);
    } else {
        char begin[100];
        status = sbi_fail(err, SB_PROTOCOL, "the answer has a line that is no event: \"%s\"",
                          sbi_text_excerpt(begin, sizeof begin, line, length));
    }
    json_decref(root);
    return status;
}

int sbi_step_stream_data(struct sbi_step_stream *stream, const char *bytes, size_t length,
                         sb_error *err) {
    const char *line;
    size_t line_length;
    while (!stream->has_ended) {
        switch (sbi_lines_next(&stream->lines, &bytes, &length, &line, &line_length)) {
        case SBI_PARSE_MORE:
            return 0;
        case SBI_PARSE_TOO_LARGE:
            return sbi_fail(err, SB_TOO_LARGE, "the answer has a line of more than %u bytes",
                            SBI_MAX_LINE);
        case SBI_PARSE_NO_MEMORY:
            return sbi_no_memory(err);
        case SBI_PARSE_ITEM:
            if (take_line(stream, line, line_length, err) != 0) {
                return -1;
            }
        }
    }
    return 0;
}

int sbi_step_stream_end(struct sbi_step_stream *stream, sb_error *err) {
    size_t length;
    const char *rest = sbi_lines_rest(&stream->lines, &length);
    return stream->has_ended ? 0 : take_line(stream, rest, length, err);
}
