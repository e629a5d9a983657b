/* contexts.c - makes and lists the contexts of a sandbox, and tells its languages. */
#include "box.h"
#include "context_fault.h"
#include "context_list.h"
#include "sandbox.h"
#include "wire.h"

#include <stdlib.h>

struct contexts {
    sb_box *box;
    struct sbi_contexts list;
};

static void release_contexts(sb_op *op) {
    struct contexts *contexts = op->data;
    sbi_contexts_free(&contexts->list);
    sbi_box_release(contexts->box);
    free(contexts);
}

static const struct sbi_op_kind new_kind = {.name = "context", .release = release_contexts};
static const struct sbi_op_kind list_kind = {.name = "contexts", .release = release_contexts};

struct languages {
    sb_box *box;
    struct sbi_languages list;
};

static void release_languages(sb_op *op) {
    struct languages *languages = op->data;
    sbi_languages_free(&languages->list);
    sbi_box_release(languages->box);
    free(languages);
}

static const struct sbi_op_kind languages_kind = {.name = "languages",
                                                  .release = release_languages};

/* Both kinds of data begin with the box, and the reading of an answer goes by the operation. */
static void finish(sb_op *op, sb_error *error) {
    sb_box *const *box = op->data;
    sbi_box_explain_closed(*box, error);
    sbi_op_finish(op, error);
}

static sb_op *new_op(sb_box *box, const struct sbi_op_kind *kind, size_t size, sb_error *err) {
    sb_op *op = sbi_op_new_sized(box->loop, kind, size, err);
    if (op != NULL) {
        sb_box **kept = op->data;
        *kept = sbi_box_keep(box);
        sbi_box_refuses(box, op);
    }
    return op;
}

static int describe(struct sbi_exchange *exchange, const sb_box *box, const char *method,
                    const char *path, sb_error *err) {
    return sbi_exchange_to_sandbox(exchange, &box->address, SBI_PORT_CODE, method, path, err);
}

/* --- a new one
 * ---------------------------------------------------------------------------------------------- */

static void on_made(void *user, struct sbi_exchange *exchange) {
    sb_op *op = user;
    struct contexts *contexts = op->data;
    sb_error error = {0};
    json_t *answer =
        sbi_context_check(exchange, &error) == 0 ? sbi_exchange_json(exchange, &error) : NULL;
    if (json_is_array(answer)) {
        sbi_fail(&error, SB_PROTOCOL, "the server's answer is no object");
        json_decref(answer);
    } else if (answer != NULL) {
        sbi_contexts_read(&contexts->list, answer, &error);
    }
    finish(op, &error);
}

static json_t *body_of(const sb_context_options *options, sb_error *err) {
    json_t *body = json_object(), *envs = NULL;
    int status = body != NULL ? sbi_json_add_string(body, "language", options->language, err)
                              : sbi_no_memory(err);
    if (status == 0) {
        status = sbi_json_add_string(body, "cwd", options->cwd, err);
    }
    if (status == 0 && options->env_count > 0) {
        envs = sbi_pairs_to_json(options->envs, options->env_count, "envs", err);
        status = envs == NULL ? -1 : json_object_set_new(body, "env_vars", envs);
    }
    if (status != 0) {
        json_decref(body);
        return NULL;
    }
    return body;
}

sb_op *sb_box_new_context(sb_box *box, const sb_context_options *options, sb_error *err) {
    static const sb_context_options defaults;
    options = options != NULL ? options : &defaults;
    if (options->env_count > 0 && !box->config->local) {
        sbi_fail(err, SB_UNSUPPORTED,
                 "envs: this server keeps none with a context, give them to each step");
        return NULL;
    }
    json_t *body = body_of(options, err);
    sb_op *op = body != NULL ? new_op(box, &new_kind, sizeof(struct contexts), err) : NULL;
    if (op == NULL || op->done) {
        json_decref(body);
        return op;
    }
    struct sbi_exchange *exchange = sbi_op_exchange(op, box->config, on_made, err);
    if (exchange == NULL || describe(exchange, box, "POST", "/contexts", err) != 0) {
        json_decref(body);
        return sbi_send_or_drop(op, -1);
    }
    return sbi_send_or_drop(op, sbi_exchange_set_json(exchange, body, err));
}

/* --- all
 * ---------------------------------------------------------------------------------------------- */

static void on_listed(void *user, struct sbi_exchange *exchange) {
    sb_op *op = user;
    struct contexts *contexts = op->data;
    sb_error error = {0};
    json_t *answer = sbi_exchange_json(exchange, &error);
    if (answer != NULL && !json_is_array(answer)) {
        sbi_fail(&error, SB_PROTOCOL, "the server's answer is no list");
        json_decref(answer);
    } else if (answer != NULL) {
        sbi_contexts_read(&contexts->list, answer, &error);
    }
    finish(op, &error);
}

sb_op *sb_box_contexts(sb_box *box, sb_error *err) {
    sb_op *op = new_op(box, &list_kind, sizeof(struct contexts), err);
    if (op == NULL || op->done) {
        return op;
    }
    struct sbi_exchange *exchange = sbi_op_exchange(op, box->config, on_listed, err);
    return sbi_send_or_drop(
        op, exchange == NULL ? -1 : describe(exchange, box, "GET", "/contexts", err));
}

/* What a finished operation has, or NULL. */
static const struct sbi_contexts *contexts_of(const sb_op *op) {
    bool has_some =
        (op->kind == &new_kind || op->kind == &list_kind) && op->done && op->error.code == SB_OK;
    return has_some ? &((const struct contexts *)op->data)->list : NULL;
}

size_t sb_op_context_count(const sb_op *op) {
    const struct sbi_contexts *list = contexts_of(op);
    return list != NULL ? list->count : 0;
}

const sb_context *sb_op_context(const sb_op *op, size_t index) {
    const struct sbi_contexts *list = contexts_of(op);
    return list != NULL && index < list->count ? &list->contexts[index] : NULL;
}

/* --- languages
 * ---------------------------------------------------------------------------------------------- */

static void on_languages(void *user, struct sbi_exchange *exchange) {
    sb_op *op = user;
    struct languages *languages = op->data;
    sb_error error = {0};
    bool is_unknown = exchange->status == 404 || exchange->status == 405;
    if (exchange->error.code == SB_OK && is_unknown) {
        sbi_fail_status(&error, SB_UNSUPPORTED, exchange->status,
                        "this server does not tell its languages");
    } else {
        json_t *answer = sbi_exchange_json(exchange, &error);
        if (answer != NULL) {
            sbi_languages_read(&languages->list, answer, &error);
        }
    }
    finish(op, &error);
}

sb_op *sb_box_languages(sb_box *box, sb_error *err) {
    sb_op *op = new_op(box, &languages_kind, sizeof(struct languages), err);
    if (op == NULL || op->done) {
        return op;
    }
    struct sbi_exchange *exchange = sbi_op_exchange(op, box->config, on_languages, err);
    return sbi_send_or_drop(
        op, exchange == NULL ? -1 : describe(exchange, box, "GET", "/contexts/languages", err));
}

static const struct sbi_languages *languages_of(const sb_op *op) {
    bool has_some = op->kind == &languages_kind && op->done && op->error.code == SB_OK;
    return has_some ? &((const struct languages *)op->data)->list : NULL;
}

size_t sb_op_language_count(const sb_op *op) {
    const struct sbi_languages *list = languages_of(op);
    return list != NULL ? list->count : 0;
}

const sb_language *sb_op_language(const sb_op *op, size_t index) {
    const struct sbi_languages *list = languages_of(op);
    return list != NULL && index < list->count ? &list->languages[index] : NULL;
}
