#include "context_list.h"

#include "error.h"

#include <stdlib.h>

static const char *string_of(const json_t *object, const char *name) {
    return json_string_value(json_object_get(object, name));
}

static int read_context(sb_context *context, const json_t *object, sb_error *err) {
    context->id = string_of(object, "id");
    if (context->id == NULL || context->id[0] == '\0') {
        return sbi_fail(err, SB_PROTOCOL, "the server's answer has a context without an id");
    }
    context->language = string_of(object, "language");
    context->cwd = string_of(object, "cwd");
    return 0;
}

int sbi_contexts_read(struct sbi_contexts *contexts, json_t *root, sb_error *err) {
    bool is_list = json_is_array(root);
    size_t count = is_list ? json_array_size(root) : 1;
    *contexts = (struct sbi_contexts){.root = root};
    contexts->contexts = calloc(count + 1, sizeof *contexts->contexts);
    if (contexts->contexts == NULL) {
        return sbi_no_memory(err);
    }
    for (size_t i = 0; i < count; i++) {
        const json_t *object = is_list ? json_array_get(root, i) : root;
        if (read_context(&contexts->contexts[i], object, err) != 0) {
            return -1;
        }
        contexts->count = i + 1;
    }
    return 0;
}

void sbi_contexts_free(struct sbi_contexts *contexts) {
    free(contexts->contexts);
    json_decref(contexts->root);
    *contexts = (struct sbi_contexts){0};
}

static int read_aliases(sb_language *language, const json_t *aliases, sb_error *err) {
    const json_t *alias;
    size_t i;
    const char **names = calloc(json_array_size(aliases) + 1, sizeof *names);
    if (names == NULL) {
        return sbi_no_memory(err);
    }
    language->aliases = names;
    json_array_foreach(aliases, i, alias) {
        const char *name = json_string_value(alias);
        if (name != NULL) {
            names[language->alias_count++] = name;
        }
    }
    return 0;
}

static int read_language(sb_language *language, const json_t *object, sb_error *err) {
    language->name = string_of(object, "name");
    if (language->name == NULL || language->name[0] == '\0') {
        return sbi_fail(err, SB_PROTOCOL, "the server's answer has a language without a name");
    }
    language->available = json_is_true(json_object_get(object, "available"));
    language->message = string_of(object, "message");
    return read_aliases(language, json_object_get(object, "aliases"), err);
}

int sbi_languages_read(struct sbi_languages *languages, json_t *root, sb_error *err) {
    const json_t *object;
    size_t i;
    *languages = (struct sbi_languages){.root = root};
    if (!json_is_array(root)) {
        return sbi_fail(err, SB_PROTOCOL, "the server's answer is no list");
    }
    languages->languages = calloc(json_array_size(root) + 1, sizeof *languages->languages);
    if (languages->languages == NULL) {
        return sbi_no_memory(err);
    }
    json_array_foreach(root, i, object) {
        /* Before it is read: what it has by then is freed with the others. */
        languages->count = i + 1;
        if (read_language(&languages->languages[i], object, err) != 0) {
            return -1;
        }
    }
    return 0;
}

void sbi_languages_free(struct sbi_languages *languages) {
    for (size_t i = 0; i < languages->count; i++) {
        free((void *)languages->languages[i].aliases);
    }
    free(languages->languages);
    json_decref(languages->root);
    *languages = (struct sbi_languages){0};
}
