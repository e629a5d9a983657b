/*
 * gateway_wake.c - traffic for a sandbox that is paused: new connections wait until it goes on,
 * when traffic may have it do so, or are refused; what comes on those that stand has it go on.
 */
#include "gateway_internal.h"

static void refuse_paused(struct connection *connection) {
    char reply[RAW_REPLY_SIZE];
    size_t length = raw_reply_paused(reply, &connection->route);
    gateway_connection_stop_head(connection);
    gateway_connection_farewell(connection, connection->fd, reply, length);
}

static void on_settled(struct sandbox *sandbox, int status, const char *message, void *user) {
    (void)sandbox;
    struct connection *connection = user;
    if (status == 0)
        gateway_connection_pass(connection);
    else
        gateway_connection_refuse(connection, status, message);
}

void gateway_connection_wake(struct connection *connection, struct sandbox *sandbox) {
    struct ev_loop *loop = connection->gateway->config.loop;
    const struct sandbox_record *record = sandbox_record_of(sandbox);
    char message[256];
    if (!record->auto_resume && !sandbox_is_resuming(sandbox)) {
        refuse_paused(connection);
        return;
    }
    /* Nothing more of the client is read meanwhile; the head is kept. */
    ev_io_stop(loop, &connection->readable);
    ev_timer_stop(loop, &connection->deadline);
    connection->stage = STAGE_WAKING;
    int status = sandbox_resume(sandbox, sandbox_seconds_after_traffic(sandbox), on_settled,
                                connection, message, sizeof message);
    if (status != 0)
        gateway_connection_refuse(connection, status, message);
}

void gateway_connection_heard(void *user) {
    const struct connection *connection = user;
    struct sandboxes *set = connection->gateway->config.sandboxes;
    if (!connection->route.to_sandbox || sandboxes_paused(set) == 0)
        return;
    struct sandbox *sandbox = sandboxes_find(set, connection->route.id);
    if (sandbox)
        sandbox_heard(sandbox);
}
