#include "process_kill.h"

#include "command_output.h"
#include "command_request.h"
#include "timestamp.h"
#include "unattended.h"

#include <stdlib.h>
#include <string.h>

/* For a start's answer to begin. */
#define START_SECONDS 10.0

void sbi_process_kill(sb_box *box, int64_t pid, const char *user) {
    const sb_process process = {.pid = pid};
    json_t *selector = sbi_process_selector(&process, NULL);
    struct sbi_exchange *exchange =
        selector != NULL ? sbi_exchange_new(box->loop, box->config, NULL) : NULL;
    if (exchange == NULL) {
        json_decref(selector);
        return;
    }
    json_t *message = json_pack("{s:o, s:s}", "process", selector, "signal", "SIGNAL_SIGKILL");
    if (sbi_rpc_request(exchange, &box->address, user, SBI_PATH_SIGNAL, message, NULL) != 0) {
        sbi_exchange_free(exchange);
        return;
    }
    sbi_unattended_send(exchange);
}

/* A start whose process is not wanted any more. */
struct late {
    sb_box *box;
    char *user; /* NULL: the default one */
    struct sbi_exchange *exchange;
    struct sbi_command_output output;
};

static int on_data(void *user, const char *bytes, size_t length, sb_error *err) {
    struct late *late = user;
    if (sbi_command_output_data(&late->output, late->exchange, bytes, length, err) != 0) {
        return -1;
    }
    /* That is all that was waited for. */
    return late->output.pid == 0 ? 0 : sbi_fail(err, SB_CANCELLED, "cancelled");
}

static bool is_full(void *user) {
    (void)user;
    return false;
}

static void on_end(void *user, bool is_done) {
    struct late *late = user;
    if (is_done && late->output.pid != 0 && !late->output.has_ended && !late->box->is_ending) {
        sbi_process_kill(late->box, late->output.pid, late->user);
    }
    sbi_command_output_free(&late->output);
    sbi_box_release(late->box);
    free(late->user);
    free(late);
}

static const struct sbi_stream start_stream = {on_data, is_full};

bool sbi_process_kill_later(sb_box *box, struct sbi_exchange *start, struct sbi_rpc_stream *stream,
                            const char *user) {
    struct late *late = calloc(1, sizeof *late);
    if (late == NULL || (user != NULL && (late->user = strdup(user)) == NULL) ||
        sbi_unattended_adopt(start, &start_stream, late, on_end) != 0) {
        if (late != NULL) {
            free(late->user);
        }
        free(late);
        return false;
    }
    late->box = sbi_box_keep(box);
    late->exchange = start;
    sbi_command_output_init(&late->output, 0, NULL, SB_NOT_FOUND);
    late->output.stream.frames = stream->frames;
    sbi_frames_init(&stream->frames, SBI_MAX_MESSAGE);
    sbi_loop_set_timer(box->loop, &start->deadline, sbi_deadline(START_SECONDS));
    sbi_exchange_resume(start); /* a reader of events may have held it back */
    return true;
}
