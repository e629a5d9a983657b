/* sandbox_network.c - a sandbox's network, from when it is asked for to its end. */
#include "sandbox_internal.h"

int sandbox_network_open(struct sandbox *sandbox, network_config *wanted) {
    bool other = sandbox->ids.kind == IDS_ROOT_RANGE;
    sandbox->network = network_new(&(network_owner){.loop = sandbox_loop(sandbox),
                                                    .id = sandbox->record.id,
                                                    .uid = other ? sandbox->ids.keeper_uid : 0,
                                                    .gid = other ? sandbox->ids.keeper_gid : 0,
                                                    .log = &sandbox->log});
    if (!sandbox->network)
        return -1;
    if (wanted) {
        sandbox->wanted_network = *wanted;
        *wanted = (network_config){0};
    }
    return 0;
}

/* What is known of PID 1 has been told before its agent can have answered. */
static void apply(struct sandbox *sandbox, network_config *config, network_done *done, void *user) {
    sandbox_process_read_status(sandbox);
    network_apply(sandbox->network, config, sandbox->process.init_pid, sandbox->process.init_fd,
                  done, user);
}

void sandbox_network_start(struct sandbox *sandbox, network_done *done, void *user) {
    if (network_config_is_set(&sandbox->wanted_network))
        apply(sandbox, &sandbox->wanted_network, done, user);
    else
        done(NULL, user);
}

void sandbox_set_network(struct sandbox *sandbox, network_config *config, network_done *done,
                         void *user) {
    apply(sandbox, config, done, user);
}

const struct network *sandbox_network_of(const struct sandbox *sandbox) {
    return sandbox->network;
}

void sandbox_network_close(struct sandbox *sandbox) {
    network_free(sandbox->network);
    sandbox->network = NULL;
    network_config_free(&sandbox->wanted_network);
}
