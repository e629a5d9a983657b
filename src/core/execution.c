#include "execution.h"

#include "error.h"
#include "result.h"
#include "text.h"

#include <stdlib.h>
#include <string.h>

void sbi_execution_init(struct sbi_execution *execution, uint64_t max_output,
                        struct sbi_events *events) {
    *execution = (struct sbi_execution){.count = -1, .events = events};
    size_t max = max_output < SIZE_MAX / 4 ? (size_t)max_output : SIZE_MAX / 4;
    sbi_buffer_init(&execution->out, max);
    sbi_buffer_init(&execution->err, max);
}

void sbi_execution_free(struct sbi_execution *execution) {
    sbi_buffer_free(&execution->out);
    sbi_buffer_free(&execution->err);
    free(execution->pieces);
    free(execution->logs);
    for (size_t i = 0; i < execution->result_count; i++) {
        sbi_result_free(&execution->results[i]);
    }
    free(execution->results);
    free((void *)execution->error.name);
    free((void *)execution->error.value);
    free((void *)execution->error.traceback);
}

/* Room for one more element of an array. */
static int grow(void **array, size_t count, size_t *capacity, size_t size) {
    if (count < *capacity) {
        return 0;
    }
    size_t more = *capacity == 0 ? 8 : *capacity * 2;
    void *moved = reallocarray(*array, more, size);
    if (moved == NULL) {
        return -1;
    }
    *array = moved;
    *capacity = more;
    return 0;
}

static int note_piece(struct sbi_execution *execution, sb_stream stream, double time, size_t offset,
                      size_t length) {
    size_t *last = &execution->last_piece[stream];
    if (execution->piece_count >= SBI_MAX_LOGS && *last > 0) {
        execution->pieces[*last - 1].length += length;
        return 0;
    }
    if (grow((void **)&execution->pieces, execution->piece_count, &execution->piece_capacity,
             sizeof *execution->pieces) != 0) {
        return -1;
    }
    execution->pieces[execution->piece_count++] = (struct sbi_piece){stream, time, offset, length};
    *last = execution->piece_count;
    return 0;
}

/* Keeps what fits, without cutting a character. */
static int keep_output(struct sbi_execution *execution, sb_stream stream, double time,
                       const char *bytes, size_t length) {
    struct sbi_buffer *kept = stream == SB_STDOUT ? &execution->out : &execution->err;
    bool *truncated = stream == SB_STDOUT ? &execution->out_truncated : &execution->err_truncated;
    if (*truncated) {
        return 0;
    }
    size_t room = kept->max - kept->length;
    if (length > room) {
        *truncated = true;
        length = sbi_utf8_floor(bytes, room);
    }
    size_t offset = kept->length;
    if (length == 0) {
        return 0;
    }
    return sbi_buffer_append(kept, bytes, length) == SB_OK
               ? note_piece(execution, stream, time, offset, length)
               : -1;
}

int sbi_execution_add_output(struct sbi_execution *execution, sb_stream stream, double time,
                             const char *bytes, size_t length, sb_error *err) {
    if (keep_output(execution, stream, time, bytes, length) != 0) {
        return sbi_no_memory(err);
    }
    if (execution->events != NULL &&
        sbi_events_add_output(execution->events, stream, time, bytes, length) != 0) {
        return sbi_no_memory(err);
    }
    return 0;
}

int sbi_execution_add_result(struct sbi_execution *execution, const json_t *line, sb_error *err) {
    sb_result result;
    if (sbi_result_parse(&result, line, err) != 0) {
        return -1;
    }
    size_t size = sizeof result;
    for (size_t i = 0; i < result.format_count; i++) {
        size += sizeof *result.formats + result.formats[i].length;
    }
    if (size > SBI_MAX_RESULTS - execution->result_bytes) {
        sbi_result_free(&result);
        return sbi_fail(err, SB_TOO_LARGE, "the results have more than %u bytes", SBI_MAX_RESULTS);
    }
    if (grow((void **)&execution->results, execution->result_count, &execution->result_capacity,
             sizeof result) != 0) {
        sbi_result_free(&result);
        return sbi_no_memory(err);
    }
    result.logs_before = execution->piece_count;
    execution->results[execution->result_count++] = result;
    execution->result_bytes += size;
    if (execution->events != NULL && sbi_events_add_result(execution->events, &result, size) != 0) {
        return sbi_no_memory(err);
    }
    return 0;
}

/* A copy, NUL-terminated; what is no string counts as "". NULL without memory. */
static char *copy_text(const json_t *value, size_t *length) {
    const char *text = json_is_string(value) ? json_string_value(value) : "";
    *length = json_string_length(value);
    char *copy = malloc(*length + 1);
    if (copy != NULL) {
        memcpy(copy, text, *length);
        copy[*length] = '\0';
    }
    return copy;
}

int sbi_execution_set_error(struct sbi_execution *execution, const json_t *line, sb_error *err) {
    sb_step_error *error = &execution->error;
    if (execution->has_error) {
        return 0;
    }
    error->name = copy_text(json_object_get(line, "name"), &error->name_length);
    error->value = copy_text(json_object_get(line, "value"), &error->value_length);
    error->traceback = copy_text(json_object_get(line, "traceback"), &error->traceback_length);
    if (error->name == NULL || error->value == NULL || error->traceback == NULL) {
        return sbi_no_memory(err);
    }
    execution->has_error = true;
    if (execution->events != NULL && sbi_events_add_error(execution->events, error) != 0) {
        return sbi_no_memory(err);
    }
    return 0;
}

static size_t make_logs(struct sbi_execution *execution) {
    free(execution->logs);
    execution->logs = reallocarray(NULL, execution->piece_count + 1, sizeof *execution->logs);
    if (execution->logs == NULL) {
        return 0;
    }
    for (size_t i = 0; i < execution->piece_count; i++) {
        const struct sbi_piece *piece = &execution->pieces[i];
        const struct sbi_buffer *kept =
            piece->stream == SB_STDOUT ? &execution->out : &execution->err;
        execution->logs[i] =
            (sb_log){piece->stream, piece->time, kept->data + piece->offset, piece->length};
    }
    return execution->piece_count;
}

const sb_execution *sbi_execution_view(struct sbi_execution *execution) {
    sb_execution *view = &execution->view;
    view->log_count = make_logs(execution);
    view->logs = execution->logs;
    view->out = sbi_buffer_string(&execution->out);
    view->out_length = execution->out.length;
    view->out_truncated = execution->out_truncated;
    view->err = sbi_buffer_string(&execution->err);
    view->err_length = execution->err.length;
    view->err_truncated = execution->err_truncated;
    view->dropped = execution->dropped;
    view->results = execution->results;
    view->result_count = execution->result_count;
    view->error = execution->has_error ? &execution->error : NULL;
    view->execution_count = execution->count;
    view->restarted = execution->restarted;
    view->duration = execution->duration;
    return view;
}

const char *sb_execution_text(const sb_execution *execution) {
    for (size_t i = 0; i < execution->result_count; i++) {
        const sb_result *result = &execution->results[i];
        for (size_t k = 0; result->is_main && k < result->format_count; k++) {
            if (strcmp(result->formats[k].name, "text") == 0) {
                return result->formats[k].data;
            }
        }
    }
    return NULL;
}
