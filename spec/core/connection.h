/*
 * connection.h - a loop, a client and a scripted server: what a test of operations begins with.
 */
#ifndef SPEC_CORE_CONNECTION_H
#define SPEC_CORE_CONNECTION_H

#include "scripted_server.h"
#include "stepbox.h"

struct connection {
    struct server *server;
    sb_loop *loop;
    sb_client *client;
    sb_box *box; /* not owning, unless a test makes another */
    sb_error error;
};

static inline sb_client *connection_client(struct connection *c, double request_timeout) {
    char url[64];
    sb_client_options options = {.request_timeout = request_timeout};
    if (c->server->port == 0) {
        options.socket = c->server->path;
        options.engine = "/nonexistent/stepboxd";
    } else {
        snprintf(url, sizeof url, "http://127.0.0.1:%d/", c->server->port);
        options.api_url = options.sandbox_url = url;
        options.api_key = "key";
    }
    return sb_client_new(c->loop, &options, &c->error);
}

/* Waits for op and frees it; returns its code. */
static inline sb_code connection_end(struct connection *c, sb_op *op) {
    if (op == NULL) {
        return c->error.code;
    }
    c->error = (sb_error){0};
    sb_op_wait(op, &c->error);
    sb_op_free(op);
    return c->error.code;
}

/* The box of an operation that makes one. */
static inline sb_box *connection_box(struct connection *c, sb_op *op) {
    sb_box *box = op != NULL && sb_op_wait(op, &c->error) == 0 ? sb_op_take_box(op) : NULL;
    sb_op_free(op);
    return box;
}

static inline struct connection *connection_new(bool is_tcp) {
    struct connection *c = calloc(1, sizeof *c);
    c->server = server_new(is_tcp);
    c->loop = sb_loop_new(&c->error);
    c->client = connection_client(c, 10);
    assert(c->client != NULL);
    c->box = connection_box(c, sb_connect(c->client, "i123", NULL, &c->error));
    assert(c->box != NULL);
    return c;
}

static inline void connection_free(struct connection *c) {
    sb_box_free(c->box);
    sb_client_free(c->client);
    sb_loop_free(c->loop);
    server_free(c->server);
    free(c);
}

/* For cmocka: a connection over the unix socket, or over TCP, as the state of each test. */
static inline int connection_set_up(void **state) {
    *state = connection_new(false);
    return 0;
}

static inline int connection_set_up_tcp(void **state) {
    *state = connection_new(true);
    return 0;
}

static inline int connection_tear_down(void **state) {
    connection_free(*state);
    return 0;
}

/* Entries of a list of tests that get one. */
#define WITH(test) cmocka_unit_test_setup_teardown(test, connection_set_up, connection_tear_down)
#define WITH_TCP(test)                                                                             \
    cmocka_unit_test_setup_teardown(test, connection_set_up_tcp, connection_tear_down)

#endif
