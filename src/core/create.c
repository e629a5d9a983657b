#include "box.h"
#include "client.h"
#include "create_body.h"
#include "create_key.h"
#include "op.h"
#include "sandbox.h"
#include "setup.h"
#include "wire.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Seconds for the kill of a sandbox whose setup failed; then the reaper goes on trying. */
#define KILL_SECONDS 10.0

/* While setup runs, the box of the operation owns the sandbox in any case, so that whatever happens
 * kills it; `disown` is followed at the end. */
struct create {
    char **commands;
    size_t count, index;
    double request_timeout;
    char *body; /* of the request, which may be sent twice */
    char key[SBI_CREATE_KEY_SIZE];
    bool was_repeated;
    bool disown;
    bool is_running; /* output is in use */
    struct sbi_command_output output;
    struct sbi_events events;
    sb_error failure; /* why the sandbox is being killed */
    bool has_command_failed;
};

static void run_next(sb_op *op);

static void succeed(sb_op *op) {
    struct create *create = op->data;
    if (create->disown) {
        sbi_box_drop_ownership(op->box);
    }
    sbi_op_finish(op, NULL);
}

static void on_killed(void *user, struct sbi_exchange *exchange) {
    sb_op *op = user;
    struct create *create = op->data;
    sb_error error = {0};
    if (sbi_exchange_check(exchange, &error) == 0 || error.code == SB_NOT_FOUND) {
        sbi_box_drop_ownership(op->box);
    } else {
        sbi_box_reap(op->box);
    }
    sbi_op_finish(op, &create->failure);
}

/* Ends with create->failure, but first the sandbox goes. */
static void kill_and_fail(sb_op *op) {
    struct create *create = op->data;
    char path[160];
    snprintf(path, sizeof path, "/sandboxes/%s", op->box->address.id);
    struct sbi_exchange *exchange = sbi_op_exchange(op, op->box->config, on_killed, NULL);
    if (exchange == NULL || sbi_exchange_to_control(exchange, "DELETE", path, NULL) != 0) {
        sbi_box_reap(op->box);
        sbi_op_finish(op, &create->failure);
        return;
    }
    exchange->timeout = KILL_SECONDS;
    sbi_op_send(op, SBI_OP_KILL);
}

static int on_setup_data(void *user, const char *bytes, size_t length, sb_error *err) {
    sb_op *op = user;
    struct create *create = op->data;
    int status = sbi_command_output_data(&create->output, op->exchange, bytes, length, err);
    if (create->events.first != NULL) {
        sbi_op_mark_ready(op);
    }
    return status;
}

static bool is_full(void *user) {
    const sb_op *op = user;
    return op->events != NULL && sbi_events_are_full(op->events);
}

static const struct sbi_stream setup_stream = {on_setup_data, is_full};

static void on_setup_done(void *user, struct sbi_exchange *exchange) {
    sb_op *op = user;
    struct create *create = op->data;
    const char *command = create->commands[create->index];
    if (sbi_setup_result(&create->output, exchange, command, &create->failure) != 0) {
        create->has_command_failed = create->failure.code == SB_SETUP_FAILED;
        sbi_error_wrap(&create->failure, "setup");
        kill_and_fail(op);
        return;
    }
    create->index++;
    run_next(op);
}

static void run_next(sb_op *op) {
    struct create *create = op->data;
    if (create->index == create->count) {
        succeed(op);
        return;
    }
    if (create->is_running) {
        sbi_command_output_free(&create->output);
    }
    sbi_command_output_init(&create->output, SBI_MAX_SETUP_OUTPUT, op->events, SB_NOT_FOUND);
    create->is_running = true;
    struct sbi_exchange *exchange =
        sbi_op_exchange(op, op->box->config, on_setup_done, &create->failure);
    if (exchange == NULL ||
        sbi_setup_request(exchange, &op->box->address, create->commands[create->index],
                          &create->failure) != 0) {
        kill_and_fail(op);
        return;
    }
    exchange->stream = &setup_stream;
    exchange->timeout = create->request_timeout;
    /* A command may take its time; the sandbox's own life ends it. */
    exchange->timeout_ends_at_answer = true;
    sbi_op_enter(op, SBI_OP_SETUP);
    if (sbi_exchange_start(exchange, &create->failure) != 0) {
        kill_and_fail(op);
    }
}

static int describe(struct sbi_exchange *exchange, const struct create *create, sb_error *err);

static void on_created(void *user, struct sbi_exchange *exchange);

/* Under its key the request may reach the server twice: whatever it did the first time, it answers
 * the same. */
static bool repeat(sb_op *op, const struct sbi_exchange *exchange) {
    struct create *create = op->data;
    if (!exchange->was_cut || create->key[0] == '\0' || create->was_repeated) {
        return false;
    }
    create->was_repeated = true;
    struct sbi_config *config = sbi_config_keep(exchange->config); /* the exchange is freed */
    struct sbi_exchange *again = sbi_op_exchange(op, config, on_created, NULL);
    sbi_config_release(config);
    if (again == NULL || describe(again, create, NULL) != 0) {
        sb_error error = {0};
        sbi_no_memory(&error);
        sbi_op_finish(op, &error);
    } else {
        sbi_op_send(op, SBI_OP_REQUEST);
    }
    return true;
}

static void on_created(void *user, struct sbi_exchange *exchange) {
    sb_op *op = user;
    struct sbi_address address;
    sb_error error = {0};
    if (repeat(op, exchange)) {
        return;
    }
    json_t *answer = sbi_exchange_json(exchange, &error);
    if (answer != NULL && sbi_address_parse(&address, answer, &error) == 0) {
        op->box = sbi_box_new(op->loop, exchange->config, &address, &error);
    }
    json_decref(answer);
    if (op->box == NULL || sbi_box_take_ownership(op->box, &error) != 0) {
        sbi_op_finish(op, &error);
        return;
    }
    run_next(op);
}

static void cancelled(sb_op *op) {
    if (op->box != NULL) {
        sbi_box_reap(op->box);
    }
}

static void release(sb_op *op) {
    struct create *create = op->data;
    if (create->is_running) {
        sbi_command_output_free(&create->output);
    }
    for (size_t i = 0; i < create->count; i++) {
        free(create->commands[i]);
    }
    free(create->commands);
    free(create->body);
    sbi_events_free(&create->events);
    free(create);
}

static const sb_command_result *failed_command(const sb_op *op) {
    struct create *create = op->data;
    return op->done && create->has_command_failed
               ? sbi_command_output_view(&create->output, create->commands[create->index])
               : NULL;
}

static const struct sbi_op_kind create_kind = {
    .name = "create", .cancelled = cancelled, .release = release, .command = failed_command};

static int copy_commands(struct create *create, const sb_create_options *options, sb_error *err) {
    if (options->setup_count == 0) {
        return 0;
    }
    create->commands = calloc(options->setup_count, sizeof *create->commands);
    if (create->commands == NULL) {
        return sbi_no_memory(err);
    }
    for (; create->count < options->setup_count; create->count++) {
        const char *command = options->setup[create->count];
        json_t *text = command != NULL ? json_string(command) : NULL;
        if (text == NULL) {
            return sbi_fail(err, SB_INVALID, "setup: command %zu is not UTF-8", create->count + 1);
        }
        json_decref(text);
        if ((create->commands[create->count] = strdup(command)) == NULL) {
            return sbi_no_memory(err);
        }
    }
    return 0;
}

static int describe(struct sbi_exchange *exchange, const struct create *create, sb_error *err) {
    char *body = strdup(create->body);
    if (body == NULL) {
        return sbi_no_memory(err);
    }
    exchange->may_start_engine = true;
    exchange->timeout = exchange->connect_timeout = create->request_timeout;
    int status = sbi_exchange_to_control(exchange, "POST", "/v2/sandboxes", err);
    if (status == 0 && exchange->config->local && !create->disown) {
        status = sbi_exchange_add_header(exchange, "Stepbox-Lease: process", err);
    }
    if (status == 0 && create->key[0] != '\0') {
        status = sbi_wire_header(&exchange->headers, err, "Idempotency-Key: %s", create->key);
    }
    if (status != 0) {
        free(body);
        return -1;
    }
    return sbi_exchange_set_body(exchange, body, strlen(body), "application/json", err);
}

/* What the options say, in a form that outlives them. */
static int keep(struct create *create, struct sbi_exchange *exchange,
                const sb_create_options *options, sb_error *err) {
    if (copy_commands(create, options, err) != 0 ||
        sbi_request_timeout(exchange, options->request_timeout, err) != 0 ||
        sbi_create_key(create->key, options->idempotency_key, exchange->config->local, err) != 0) {
        return -1;
    }
    create->request_timeout = exchange->timeout;
    create->disown = options->disown;
    json_t *body = sbi_create_body(options, exchange->config->local, err);
    if (body == NULL) {
        return -1;
    }
    create->body = json_dumps(body, JSON_COMPACT);
    json_decref(body);
    return create->body != NULL ? 0 : sbi_no_memory(err);
}

sb_op *sb_create(sb_client *client, const sb_create_options *options, sb_error *err) {
    static const sb_create_options defaults;
    options = options != NULL ? options : &defaults;
    sb_op *op = sbi_op_new_sized(client->loop, &create_kind, sizeof(struct create), err);
    if (op == NULL) {
        return NULL;
    }
    struct create *create = op->data;
    op->events = options->events ? &create->events : NULL;
    struct sbi_exchange *exchange = sbi_op_exchange(op, client->config, on_created, err);
    bool is_kept = exchange != NULL && keep(create, exchange, options, err) == 0;
    return sbi_send_or_drop(op, is_kept ? describe(exchange, create, err) : -1);
}
