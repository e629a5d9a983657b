/* Queries of a sandbox: read within their bytes, and answered so that the answer is one to them. */
#include "dns_message.h"

#include "../fuzz.h"

static void check_answers(uint8_t *query, size_t length, const struct dns_question *question) {
    static const uint8_t address[4] = {198, 18, 0, 1};
    for (int which = 0; which < 3; which++) {
        uint8_t *out = fuzz_allocate(DNS_HEADER + 300);
        size_t written = dns_write_answer(query, question, which == 2 ? DNS_NAME_ERROR : 0,
                                          which == 1 ? address : NULL, out);
        FUZZ_CHECK(written >= question->end && written <= DNS_HEADER + 300);
        uint8_t *answer = (uint8_t *)fuzz_copy(out, written);
        FUZZ_CHECK(dns_answers(answer, written, query, length));
        FUZZ_CHECK(dns_id(answer) == dns_id(query));
        struct dns_question none;
        FUZZ_CHECK(!dns_read_query(answer, written, &none));
        free(answer);
        free(out);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    struct fuzz_input input = fuzz_input(bytes, length);
    /* A query, and behind it what a resolver might answer. */
    size_t size = fuzz_byte(&input);
    size = size < input.length ? size : input.length;
    uint8_t *query = (uint8_t *)fuzz_copy(input.bytes, size);
    uint8_t *answer = (uint8_t *)fuzz_copy(input.bytes + size, input.length - size);
    struct dns_question question;
    if (dns_read_query(query, size, &question)) {
        FUZZ_CHECK(question.end <= size && strlen(question.name) < DNS_NAME_MAX);
        FUZZ_CHECK(strspn(question.name, "abcdefghijklmnopqrstuvwxyz0123456789-_.") ==
                   strlen(question.name));
        check_answers(query, size, &question);
    }
    dns_answers(answer, input.length - size, query, size);
    free(query);
    free(answer);
    return 0;
}
