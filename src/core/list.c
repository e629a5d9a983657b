#include "client.h"
#include "op.h"
#include "sandbox.h"
#include "sandbox_info.h"
#include "text.h"

#include <stdio.h>
#include <string.h>

static void on_listed(void *user, struct sbi_exchange *exchange) {
    sb_op *op = user;
    sb_error error = {0};
    json_t *answer = sbi_exchange_json(exchange, &error);
    if (answer != NULL && !json_is_array(answer)) {
        json_decref(answer);
        answer = NULL;
        sbi_fail(&error, SB_PROTOCOL, "the server's answer is no list");
    }
    if (answer != NULL && (op->infos = sbi_infos_new(answer, &error)) != NULL) {
        op->infos->next_token = exchange->next_token;
        exchange->next_token = NULL;
    }
    sbi_op_finish(op, &error);
}

static const struct sbi_op_kind list_kind = {.name = "list"};

/* Appends "&name=value", the value percent-encoded. */
static sb_code append_parameter(struct sbi_buffer *path, const char *name, const char *value) {
    const char *parts[] = {strchr(path->data, '?') == NULL ? "?" : "&", name, "="};
    sb_code code = SB_OK;
    for (size_t i = 0; i < 3 && code == SB_OK; i++) {
        code = sbi_buffer_append_string(path, parts[i]);
    }
    return code == SB_OK ? sbi_percent_encode(path, value, strlen(value)) : code;
}

static sb_code encode(struct sbi_buffer *out, const char *text) {
    return sbi_percent_encode(out, text, strlen(text));
}

/* The filter is encoded three times, as the official SDKs do it and the server undoes it: each name
 * and value, then the whole "a=b&c=d", whose own signs must survive, and then as a parameter. */
static sb_code append_metadata(struct sbi_buffer *path, const sb_list_options *options) {
    struct sbi_buffer filter, inner;
    sbi_buffer_init(&filter, path->max);
    sbi_buffer_init(&inner, path->max);
    sb_code code = SB_OK;
    for (size_t i = 0; i < options->metadata_count && code == SB_OK; i++) {
        const char *texts[] = {options->metadata[i].name, options->metadata[i].value};
        for (int k = 0; k < 2 && code == SB_OK; k++) {
            sbi_buffer_clear(&inner, path->max);
            code = encode(&inner, texts[k]);
            if (code == SB_OK && (i > 0 || k > 0)) {
                code = sbi_buffer_append_string(&filter, k > 0 ? "=" : "&");
            }
            if (code == SB_OK) {
                code = encode(&filter, sbi_buffer_string(&inner));
            }
        }
    }
    if (code == SB_OK) {
        code = append_parameter(path, "metadata", sbi_buffer_string(&filter));
    }
    sbi_buffer_free(&filter);
    sbi_buffer_free(&inner);
    return code;
}

/* "state=running,paused" */
static sb_code append_states(struct sbi_buffer *path, const sb_list_options *options) {
    struct sbi_buffer states;
    sbi_buffer_init(&states, 4096);
    sb_code code = SB_OK;
    for (size_t i = 0; i < options->state_count && code == SB_OK; i++) {
        code = i > 0 ? sbi_buffer_append_string(&states, ",") : SB_OK;
        if (code == SB_OK) {
            code = encode(&states, options->states[i]);
        }
    }
    const char *parts[] = {strchr(path->data, '?') == NULL ? "?" : "&",
                           "state=", sbi_buffer_string(&states)};
    for (size_t i = 0; i < 3 && code == SB_OK; i++) {
        code = sbi_buffer_append_string(path, parts[i]);
    }
    sbi_buffer_free(&states);
    return code;
}

static sb_code build_list_path(struct sbi_buffer *path, const sb_list_options *options) {
    sb_code code = sbi_buffer_append_string(path, "/v2/sandboxes");
    if (code == SB_OK && options->metadata_count > 0) {
        code = append_metadata(path, options);
    }
    if (code == SB_OK && options->state_count > 0) {
        code = append_states(path, options);
    }
    if (code == SB_OK && options->limit > 0) {
        char limit[16];
        snprintf(limit, sizeof limit, "%d", options->limit);
        code = append_parameter(path, "limit", limit);
    }
    if (code == SB_OK && options->next_token != NULL) {
        code = append_parameter(path, "nextToken", options->next_token);
    }
    return code;
}

static int check_list(const sb_list_options *options, sb_error *err) {
    for (size_t i = 0; i < options->metadata_count; i++) {
        if (options->metadata[i].name == NULL || options->metadata[i].value == NULL) {
            return sbi_fail(err, SB_INVALID, "metadata: number %zu has no name or no value", i + 1);
        }
    }
    for (size_t i = 0; i < options->state_count; i++) {
        if (options->states[i] == NULL) {
            return sbi_fail(err, SB_INVALID, "states: number %zu is NULL", i + 1);
        }
    }
    return options->limit >= 0 ? 0 : sbi_fail(err, SB_INVALID, "limit: must be more than 0");
}

static int describe_list(struct sbi_exchange *exchange, const sb_list_options *options,
                         sb_error *err) {
    struct sbi_buffer path;
    sbi_buffer_init(&path, 64u * 1024);
    sb_code code = build_list_path(&path, options);
    int status = -1;
    if (code == SB_TOO_LARGE) {
        sbi_fail(err, SB_INVALID, "metadata: too long for a request");
    } else if (code != SB_OK) {
        sbi_no_memory(err);
    } else {
        status = sbi_exchange_to_control(exchange, "GET", path.data, err);
    }
    sbi_buffer_free(&path);
    exchange->may_start_engine = true;
    return status;
}

sb_op *sb_list(sb_client *client, const sb_list_options *options, sb_error *err) {
    static const sb_list_options defaults;
    options = options != NULL ? options : &defaults;
    sb_op *op = check_list(options, err) == 0 ? sbi_op_new(client->loop, &list_kind, err) : NULL;
    if (op == NULL) {
        return NULL;
    }
    struct sbi_exchange *exchange = sbi_op_exchange(op, client->config, on_listed, err);
    return sbi_send_or_drop(op, exchange == NULL ? -1 : describe_list(exchange, options, err));
}
