/* snapshots.c - the files of sandboxes, kept for others to begin with. */
#include "box.h"
#include "client.h"
#include "json_answer.h"
#include "sandbox.h"
#include "text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Pages of a list are joined, up to this many snapshots. */
#define MAX_LISTED 10000

static void on_taken(void *user, struct sbi_exchange *exchange) {
    sb_op *op = user;
    sb_error error = {0};
    sbi_keep_json_answer(op, exchange, &error);
    sbi_box_explain_control(op->data, &error);
    sbi_op_finish(op, &error);
}

static const struct sbi_op_kind snapshot_kind = {.name = "snapshot", .release = sbi_box_op_release};

sb_op *sb_box_snapshot(sb_box *box, const char *name, sb_error *err) {
    json_t *body = name != NULL ? json_pack("{s:s}", "name", name) : json_object();
    if (body == NULL) {
        sbi_fail(err, SB_INVALID, "name: is not UTF-8");
        return NULL;
    }
    sb_op *op = sbi_box_op(box, &snapshot_kind, err);
    if (op == NULL || op->done) {
        json_decref(body);
        return op;
    }
    char path[200];
    snprintf(path, sizeof path, "/sandboxes/%s/snapshots", box->address.id);
    struct sbi_exchange *exchange = sbi_op_exchange(op, box->config, on_taken, err);
    if (exchange == NULL || sbi_exchange_to_control(exchange, "POST", path, err) != 0) {
        json_decref(body);
        return sbi_send_or_drop(op, -1);
    }
    return sbi_send_or_drop(op, sbi_exchange_set_json(exchange, body, err));
}

/* --- the list
 * ------------------------------------------------------------------------------------------ */

struct listing {
    char *sandbox; /* its id, or NULL */
    json_t *all;   /* of the pages so far */
};

static void release_listing(sb_op *op) {
    struct listing *listing = op->data;
    free(listing->sandbox);
    json_decref(listing->all);
    free(listing);
}

static const struct sbi_op_kind list_kind = {.name = "snapshots", .release = release_listing};

static void on_page(void *user, struct sbi_exchange *exchange);

/* Describes the request for the page behind a token (NULL: the first). */
static int describe_page(struct sbi_exchange *exchange, const struct listing *listing,
                         const char *token, sb_error *err) {
    struct sbi_buffer path;
    sbi_buffer_init(&path, 8192);
    sb_code code = sbi_buffer_append_string(&path, "/snapshots?limit=100");
    if (code == SB_OK && listing->sandbox != NULL) {
        code = sbi_buffer_append_string(&path, "&sandboxID=");
        code = code == SB_OK ? sbi_buffer_append_string(&path, listing->sandbox) : code;
    }
    if (code == SB_OK && token != NULL) {
        code = sbi_buffer_append_string(&path, "&nextToken=");
        code = code == SB_OK ? sbi_percent_encode(&path, token, strlen(token)) : code;
    }
    int status = code == SB_OK ? sbi_exchange_to_control(exchange, "GET", path.data, err)
                               : sbi_no_memory(err);
    sbi_buffer_free(&path);
    exchange->may_start_engine = true;
    return status;
}

/* Asks for the next page. False when there is none, or with err. */
static bool ask_more(sb_op *op, struct sbi_exchange *exchange, sb_error *err) {
    char *token = exchange->next_token;
    struct sbi_config *config = exchange->config;
    const struct listing *listing = op->data;
    if (token == NULL || json_array_size(listing->all) >= MAX_LISTED) {
        return false;
    }
    exchange->next_token = NULL;
    sbi_config_keep(config); /* the exchange is freed with the next one */
    struct sbi_exchange *next = sbi_op_exchange(op, config, on_page, err);
    sbi_config_release(config);
    bool is_described = next != NULL && describe_page(next, listing, token, err) == 0;
    free(token);
    if (is_described) {
        sbi_op_send(op, SBI_OP_REQUEST);
    }
    return is_described;
}

static void on_page(void *user, struct sbi_exchange *exchange) {
    sb_op *op = user;
    struct listing *listing = op->data;
    sb_error error = {0};
    json_t *page = sbi_exchange_json(exchange, &error);
    if (page != NULL && !json_is_array(page)) {
        sbi_fail(&error, SB_PROTOCOL, "the server's answer is no list");
    } else if (page != NULL && json_array_extend(listing->all, page) != 0) {
        sbi_no_memory(&error);
    } else if (page != NULL && ask_more(op, exchange, &error)) {
        json_decref(page);
        return;
    }
    json_decref(page);
    if (error.code == SB_OK && (op->json = json_dumps(listing->all, JSON_COMPACT)) == NULL) {
        sbi_no_memory(&error);
    }
    sbi_op_finish(op, &error);
}

sb_op *sb_snapshots(sb_client *client, const char *sandbox, sb_error *err) {
    if (sandbox != NULL && sbi_check_id(sandbox, err) != 0) {
        return NULL;
    }
    sb_op *op = sbi_op_new_sized(client->loop, &list_kind, sizeof(struct listing), err);
    if (op == NULL) {
        return NULL;
    }
    struct listing *listing = op->data;
    listing->all = json_array();
    listing->sandbox = sandbox != NULL ? strdup(sandbox) : NULL;
    if (listing->all == NULL || (sandbox != NULL && listing->sandbox == NULL)) {
        sbi_no_memory(err);
        return sbi_send_or_drop(op, -1);
    }
    struct sbi_exchange *exchange = sbi_op_exchange(op, client->config, on_page, err);
    return sbi_send_or_drop(op,
                            exchange == NULL ? -1 : describe_page(exchange, listing, NULL, err));
}

/* --- deletion
 * ------------------------------------------------------------------------------------------ */

static void on_deleted(void *user, struct sbi_exchange *exchange) {
    sb_error error = {0};
    sbi_exchange_check(exchange, &error);
    sbi_op_finish(user, &error);
}

static const struct sbi_op_kind delete_kind = {.name = "delete snapshot"};

static int describe_delete(struct sbi_exchange *exchange, const char *id, sb_error *err) {
    struct sbi_buffer path;
    sbi_buffer_init(&path, 2048);
    sb_code code = sbi_buffer_append_string(&path, "/templates/");
    code = code == SB_OK ? sbi_percent_encode(&path, id, strlen(id)) : code;
    int status = code == SB_OK ? sbi_exchange_to_control(exchange, "DELETE", path.data, err)
                               : sbi_fail(err, SB_INVALID, "id: not a snapshot's id");
    sbi_buffer_free(&path);
    return status;
}

sb_op *sb_delete_snapshot(sb_client *client, const char *id, sb_error *err) {
    if (id == NULL || id[0] == '\0') {
        sbi_fail(err, SB_INVALID, "id: not a snapshot's id");
        return NULL;
    }
    sb_op *op = sbi_op_new(client->loop, &delete_kind, err);
    if (op == NULL) {
        return NULL;
    }
    struct sbi_exchange *exchange = sbi_op_exchange(op, client->config, on_deleted, err);
    return sbi_send_or_drop(op, exchange == NULL ? -1 : describe_delete(exchange, id, err));
}
