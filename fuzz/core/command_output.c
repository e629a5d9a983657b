/* The answer to a command, frames of JSON: what it means must not depend on how its bytes come. */
#include "command_output.h"

#include "../fuzz.h"

#define MAX_OUTPUT 300

static void read_stream(struct fuzz_input input, unsigned how, struct fuzz_sink *out) {
    struct sbi_exchange exchange = {.status = 200};
    struct sbi_command_output output;
    struct sbi_events events = {0};
    sb_error error = {0}, verdict = {0};
    char *piece, line[400];
    size_t length;
    int status = 0;
    sbi_command_output_init(&output, MAX_OUTPUT, &events, SB_PROCESS_GONE);
    struct fuzz_pieces pieces = fuzz_pieces(input.bytes, input.length, how);
    while (status == 0 && fuzz_next(&pieces, &piece, &length))
        status = sbi_command_output_data(&output, &exchange, piece, length, &error);
    fuzz_stop(&pieces);
    FUZZ_CHECK((status == 0) == (error.code == SB_OK));
    FUZZ_CHECK(fuzz_is_printable(error.message));
    exchange.error = error;
    int ended = sbi_command_output_result(&output, &exchange, &verdict);
    /* No end, no success. */
    FUZZ_CHECK((ended == 0) == output.has_ended);
    FUZZ_CHECK(ended == 0 || (verdict.code != SB_OK && fuzz_is_printable(verdict.message)));
    const sb_command_result *result = sbi_command_output_view(&output, NULL);
    FUZZ_CHECK(result->out_length <= MAX_OUTPUT && result->err_length <= MAX_OUTPUT);
    fuzz_add(out, result->out, result->out_length + 1);
    fuzz_add(out, result->err, result->err_length + 1);
    snprintf(line, sizeof line, "%d %lld %d %d %s|", result->exit_code, (long long)output.pid,
             result->out_truncated, result->err_truncated, result->how ? result->how : "");
    fuzz_add_text(out, line);
    fuzz_add_text(out, error.message);
    fuzz_add_text(out, verdict.message);
    sbi_command_output_free(&output);
    sbi_events_free(&events);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    fuzz_check_pieces(bytes, length, read_stream);
    return 0;
}
