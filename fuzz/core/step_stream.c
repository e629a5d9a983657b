/* The answer to a step, lines of JSON: what it means must not depend on how its bytes come. */
#include "step_stream.h"

#include "../fuzz.h"

/* Small, so that inputs reach it. */
#define MAX_OUTPUT 300

static void describe(struct sbi_execution *execution, struct fuzz_sink *out) {
    char line[300];
    const sb_execution *view = sbi_execution_view(execution);
    FUZZ_CHECK(view->out_length <= MAX_OUTPUT && view->err_length <= MAX_OUTPUT);
    FUZZ_CHECK(view->out[view->out_length] == '\0' && view->err[view->err_length] == '\0');
    fuzz_add(out, view->out, view->out_length + 1);
    fuzz_add(out, view->err, view->err_length + 1);
    for (size_t i = 0; i < view->log_count; i++) {
        snprintf(line, sizeof line, "%d %zu\n", view->logs[i].stream, view->logs[i].length);
        fuzz_add_text(out, line);
        fuzz_add(out, view->logs[i].data, view->logs[i].length);
    }
    for (size_t i = 0; i < view->result_count; i++) {
        const sb_result *result = &view->results[i];
        for (size_t k = 0; k < result->format_count; k++) {
            const sb_format *format = &result->formats[k];
            FUZZ_CHECK(format->data[format->length] == '\0');
            fuzz_add_text(out, format->name);
            fuzz_add(out, format->data, format->length);
        }
    }
    if (view->error) {
        fuzz_add(out, view->error->name, view->error->name_length);
        fuzz_add(out, view->error->value, view->error->value_length);
        fuzz_add(out, view->error->traceback, view->error->traceback_length);
    }
    snprintf(line, sizeof line, "%lld %d %d %d", (long long)view->execution_count, view->restarted,
             view->out_truncated, view->err_truncated);
    fuzz_add_text(out, line);
}

/* Reads all the events that a reader would get. */
static void read_events(struct sbi_events *events) {
    const sb_event *event;
    size_t total = 0;
    while ((event = sbi_events_next(events)) != NULL) {
        if (event->type == SB_EVENT_OUTPUT) {
            for (size_t i = 0; i < event->output.length; i++)
                total += (unsigned char)event->output.data[i];
        }
    }
    FUZZ_CHECK(events->waiting == 0 && total < SIZE_MAX);
}

static void read_stream(struct fuzz_input input, unsigned how, struct fuzz_sink *out) {
    struct sbi_execution execution;
    struct sbi_step_stream stream;
    struct sbi_events events = {0};
    sb_error error = {0};
    char *piece;
    size_t length;
    int status = 0;
    sbi_execution_init(&execution, MAX_OUTPUT, &events);
    sbi_step_stream_init(&stream, &execution);
    struct fuzz_pieces pieces = fuzz_pieces(input.bytes, input.length, how);
    while (status == 0 && fuzz_next(&pieces, &piece, &length))
        status = sbi_step_stream_data(&stream, piece, length, &error);
    fuzz_stop(&pieces);
    if (status == 0)
        status = sbi_step_stream_end(&stream, &error);
    FUZZ_CHECK((status == 0) == (error.code == SB_OK));
    FUZZ_CHECK(status == 0 || error.message[0] != '\0');
    FUZZ_CHECK(fuzz_is_printable(error.message) && fuzz_is_printable(stream.lost.message));
    describe(&execution, out);
    fuzz_add_text(out, error.message);
    fuzz_add_text(out, stream.lost.message);
    fuzz_add_text(out, stream.has_ended ? " ended" : " open");
    read_events(&events);
    sbi_step_stream_free(&stream);
    sbi_execution_free(&execution);
    sbi_events_free(&events);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    fuzz_check_pieces(bytes, length, read_stream);
    return 0;
}
