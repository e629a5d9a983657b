/*
 * box_fixture.h - boxes that tests make of the connection's client, and the kills that follow.
 */
#ifndef STEPBOX_BOX_FIXTURE_H
#define STEPBOX_BOX_FIXTURE_H

#include "connection.h"

static inline size_t kills(struct connection *c) {
    return server_count(c->server, "DELETE /sandboxes/i123 ");
}

static inline sb_box *create(struct connection *c, const sb_create_options *options) {
    return connection_box(c, sb_create(c->client, options, &c->error));
}

/* What would lead a client elsewhere than to the test's server. */
static inline void unset_variables(void) {
    static const char *const variables[] = {"E2B_API_KEY",     "E2B_DOMAIN",     "E2B_API_URL",
                                            "E2B_SANDBOX_URL", "STEPBOX_SOCKET", "STEPBOX_ENGINE"};
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        unsetenv(variables[i]);
    }
}

#endif
