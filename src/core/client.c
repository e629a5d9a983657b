#include "client.h"

#include <stdlib.h>

sb_client *sb_client_new(sb_loop *loop, const sb_client_options *options, sb_error *err) {
    if (loop == NULL) {
        sbi_fail(err, SB_INVALID, "loop: is NULL");
        return NULL;
    }
    if (sbi_loop_check(loop, err) != 0) {
        return NULL;
    }
    sb_client *client = calloc(1, sizeof *client);
    if (client == NULL) {
        sbi_no_memory(err);
        return NULL;
    }
    client->loop = loop;
    client->config = sbi_config_new(options, err);
    if (client->config == NULL) {
        sbi_error_wrap(err, "client");
        free(client);
        return NULL;
    }
    loop->has_remote |= !client->config->local;
    return client;
}

void sb_client_free(sb_client *client) {
    if (client != NULL) {
        sbi_config_release(client->config);
        free(client);
    }
}

bool sb_client_is_local(const sb_client *client) {
    return client->config->local;
}
