#include "setup.h"

#include "command_request.h"
#include "text.h"

#include <string.h>

int sbi_setup_request(struct sbi_exchange *exchange, const struct sbi_address *address,
                      const char *command, sb_error *err) {
    static const sb_command_options defaults;
    json_t *message = sbi_command_message(command, &defaults, err);
    return message == NULL
               ? -1
               : sbi_rpc_stream_request(exchange, address, NULL, SBI_PATH_START, message, err);
}

/* The last line with something in it. */
static const char *last_line(const struct sbi_buffer *output, size_t *length) {
    const char *text = sbi_buffer_string(output);
    size_t end = output->length;
    while (end > 0 && (text[end - 1] == '\n' || text[end - 1] == '\r' || text[end - 1] == ' ')) {
        end--;
    }
    size_t begin = end;
    while (begin > 0 && text[begin - 1] != '\n') {
        begin--;
    }
    *length = end - begin;
    return text + begin;
}

static int fail_command(const struct sbi_command_output *output, const char *command,
                        sb_error *err) {
    char begin[120], said[200];
    size_t length;
    const char *line = last_line(&output->err, &length);
    sbi_text_excerpt(begin, sizeof begin, command, strlen(command));
    sbi_text_excerpt(said, sizeof said, line, length);
    const char *between = length > 0 ? ": " : "";
    if (!output->has_exited) {
        return sbi_fail(err, SB_SETUP_FAILED, "\"%s\" ended by %s%s%s", begin, output->how, between,
                        said);
    }
    return sbi_fail(err, SB_SETUP_FAILED, "\"%s\" exited with %d%s%s", begin, output->exit_code,
                    between, said);
}

int sbi_setup_result(const struct sbi_command_output *output, const struct sbi_exchange *exchange,
                     const char *command, sb_error *err) {
    if (sbi_command_output_result(output, exchange, err) != 0) {
        char begin[120];
        sbi_text_excerpt(begin, sizeof begin, command, strlen(command));
        return sbi_fail_status(err, err->code, err->status, "\"%s\": %s", begin, err->message);
    }
    bool is_success = output->has_exited && output->exit_code == 0;
    return is_success ? 0 : fail_command(output, command, err);
}
