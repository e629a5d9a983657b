/* What a sandbox tells of its contexts and its languages. */
#include "context_list.h"

#include "error.h"

#include "../fuzz.h"

static void read_contexts(json_t *root) {
    sb_error error = {0};
    struct sbi_contexts contexts;
    int status = sbi_contexts_read(&contexts, json_incref(root), &error);
    FUZZ_CHECK((status != 0) == (error.code != SB_OK));
    FUZZ_CHECK(contexts.count <= json_array_size(root) + 1);
    for (size_t i = 0; i < contexts.count; i++)
        FUZZ_CHECK(contexts.contexts[i].id && *contexts.contexts[i].id);
    sbi_contexts_free(&contexts);
}

static void read_languages(json_t *root) {
    sb_error error = {0};
    struct sbi_languages languages;
    int status = sbi_languages_read(&languages, json_incref(root), &error);
    FUZZ_CHECK((status != 0) == (error.code != SB_OK));
    for (size_t i = 0; status == 0 && i < languages.count; i++) {
        const sb_language *language = &languages.languages[i];
        FUZZ_CHECK(language->name && *language->name);
        for (size_t k = 0; k < language->alias_count; k++)
            FUZZ_CHECK(language->aliases[k]);
    }
    sbi_languages_free(&languages);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    json_t *root = json_loadb((const char *)bytes, length, 0, NULL);
    if (root) {
        read_contexts(root);
        read_languages(root);
    }
    json_decref(root);
    return 0;
}
