/* The parameters of a list of sandboxes: refused by name, or kept; a page's token leads behind the
 * sandbox that it names. */
#include "sandbox_list.h"

#include "../fuzz.h"

static struct sandbox_record records[3];

int LLVMFuzzerInitialize(int *argc, char ***argv) {
    (void)argc, (void)argv;
    for (int i = 0; i < 3; i++) {
        memset(records[i].id, 'a' + i, SANDBOX_ID_LENGTH);
        records[i].alias = "base";
        records[i].started_at = 1000 + i / 2;
    }
    return 0;
}

static void check_pages(struct list_query *query) {
    const struct sandbox_record *all[] = {&records[2], &records[0], &records[1]};
    struct list_page page;
    char message[300];
    list_select(query, all, 3, &page);
    FUZZ_CHECK(page.total <= 3 && page.first <= page.total);
    FUZZ_CHECK(page.count <= query->limit && page.first + page.count <= page.total);
    if (!*page.next_token)
        return;
    FUZZ_CHECK(list_query_set(query, "nextToken", page.next_token, message, sizeof message) == 0);
    FUZZ_CHECK(strcmp(query->cursor_id, all[page.first + page.count - 1]->id) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    struct fuzz_input input = fuzz_input(bytes, length);
    struct list_query query;
    list_query_init(&query, fuzz_byte(&input) & 1 ? 1 : 2);
    while (input.length) {
        char *name = fuzz_line(&input), *value = fuzz_line(&input), message[300] = "";
        int status = list_query_set(&query, name, value, message, sizeof message);
        FUZZ_CHECK((status == 0) == (message[0] == '\0'));
        free(name);
        free(value);
    }
    FUZZ_CHECK(query.limit >= 1 && (query.version == 1 || query.limit <= 100));
    check_pages(&query);
    list_query_free(&query);
    return 0;
}
