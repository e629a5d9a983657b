/* What a server says that failed: always an error with a message that can be shown, whatever the
 * status and the body. */
#include "answer.h"
#include "file_error.h"
#include "rpc.h"

#include "../fuzz.h"

static void check(const sb_error *error) {
    FUZZ_CHECK(error->code > SB_OK && error->code <= SB_PROCESS_GONE);
    FUZZ_CHECK(error->message[0] != '\0' && strlen(error->message) < sizeof error->message);
    FUZZ_CHECK(fuzz_is_printable(error->message));
}

static void check_message(const char *type, const char *body, size_t length, size_t size) {
    char *message = fuzz_allocate(size);
    if (sbi_answer_message(message, size, type, body, length))
        FUZZ_CHECK(strlen(message) < size && fuzz_is_printable(message));
    free(message);
}

/* As the calls of the sandbox's services see it. */
static void check_exchange(struct sbi_exchange *exchange) {
    sb_error error = {0};
    json_t *answer = sbi_rpc_answer(exchange, SB_PROCESS_GONE, &error);
    FUZZ_CHECK((answer == NULL) == (error.code != SB_OK));
    FUZZ_CHECK(!answer || json_is_object(answer));
    if (!answer)
        check(&error);
    json_decref(answer);
    error = (sb_error){0};
    if (sbi_file_check(exchange, &error) != 0)
        check(&error);
    else
        FUZZ_CHECK(exchange->status >= 200 && exchange->status < 300);
    sbi_rpc_says(exchange, "not_found");
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    static const int statuses[] = {200, 201, 204, 206, 301, 400, 401, 403, 404, 405, 408,
                                   409, 410, 413, 422, 429, 500, 501, 502, 503, 507, 0};
    struct fuzz_input input = fuzz_input(bytes, length);
    struct sbi_exchange exchange = {
        .status = statuses[fuzz_byte(&input) % (sizeof statuses / sizeof *statuses)]};
    unsigned how = fuzz_byte(&input);
    exchange.is_framed = how & 1;
    exchange.was_cut = (how & 6) == 6;
    if (exchange.was_cut)
        exchange.error = (sb_error){SB_UNAVAILABLE, 0, "cut"};
    char *type = fuzz_line(&input);
    snprintf(exchange.content_type, sizeof exchange.content_type, "%s", type);
    char *body = fuzz_copy(input.bytes, input.length);
    sb_error error = {0};
    FUZZ_CHECK(
        sbi_answer_fail(exchange.status, exchange.content_type, body, input.length, &error) == -1);
    check(&error);
    check_message(exchange.content_type, body, input.length, 1 + (how >> 1));
    sbi_buffer_init(&exchange.answer, SBI_MAX_ANSWER);
    sbi_buffer_append(&exchange.answer, body, input.length);
    check_exchange(&exchange);
    sbi_buffer_free(&exchange.answer);
    free(body);
    free(type);
    return 0;
}
