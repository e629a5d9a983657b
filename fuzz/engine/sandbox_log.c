/* What an agent says on its standard error, in any pieces: kept as lines that can be shown, within
 * the bounds of the log. */
#include "log_query.h"
#include "sandbox_log.h"

#include "../fuzz.h"

static size_t selected;

static void on_entry(const sandbox_log_entry *entry, void *user) {
    (void)user;
    selected++;
    FUZZ_CHECK(entry->level <= LOG_LEVEL_DEBUG && entry->source);
}

static void read_words(struct fuzz_input input, unsigned how, struct fuzz_sink *out) {
    struct sandbox_log log = {0};
    struct fuzz_pieces pieces = fuzz_pieces(input.bytes, input.length, how);
    char *piece;
    size_t length;
    while (fuzz_next(&pieces, &piece, &length))
        sandbox_log_said(&log, piece, length);
    FUZZ_CHECK(log.count <= SANDBOX_LOG_ENTRIES && log.line_used <= SANDBOX_LOG_MESSAGE);
    for (size_t i = 0; i < log.count; i++) {
        const sandbox_log_entry *entry = sandbox_log_at(&log, i);
        FUZZ_CHECK(strlen(entry->message) <= SANDBOX_LOG_MESSAGE);
        fuzz_add_text(out, entry->message);
        fuzz_add_text(out, "\n");
        for (char *tab = entry->message; (tab = strchr(tab, '\t')) != NULL;)
            *tab = ' ';
        FUZZ_CHECK(fuzz_is_printable(entry->message));
    }
    struct log_query query;
    log_query_init(&query, 2);
    selected = 0;
    log_query_select(&query, &log, on_entry, NULL);
    FUZZ_CHECK(selected == log.count);
    sandbox_log_free(&log);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    fuzz_check_pieces(bytes, length, read_words);
    return 0;
}
