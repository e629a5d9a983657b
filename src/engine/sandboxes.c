/* sandboxes.c - the set of all sandboxes of this engine. */
#include "sandbox_internal.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "log.h"
#include "orphans.h"

struct sandboxes *sandboxes_new(const sandboxes_config *config) {
    struct sandboxes *set = calloc(1, sizeof *set);
    if (!set)
        return NULL;
    set->config = *config;
    set->refused = refused_set_new(config->loop, config->filter);
    if (!set->refused) {
        free(set);
        return NULL;
    }
    host_isolation_find(&set->isolation);
    /* Who may enter the sandboxes: their keeper, and that is us unless we are root. */
    bool other = set->isolation.ids.kind == IDS_ROOT_RANGE;
    set->zygotes =
        zygotes_new(&(zygotes_config){.loop = config->loop,
                                      .payload = config->payload,
                                      .uid = other ? set->isolation.ids.keeper_uid : 0,
                                      .gid = other ? set->isolation.ids.keeper_gid : 0,
                                      .fresh = config->fresh_zygotes,
                                      .off = set->isolation.impossible || !config->fork_runners,
                                      .never_share = !config->share_zygotes});
    if (!set->zygotes) {
        host_isolation_free(&set->isolation);
        refused_set_free(set->refused);
        free(set);
        return NULL;
    }
    /* Another engine of root takes from the same range: begin somewhere else than it did. */
    set->next_slice = (uint32_t)(getpid() ^ time(NULL));
    return set;
}

void sandboxes_free(struct sandboxes *set) {
    zygotes_free(set->zygotes);
    host_isolation_free(&set->isolation);
    refused_set_free(set->refused);
    free(set);
}

size_t sandboxes_count(const struct sandboxes *set) {
    return set->count;
}

struct sandboxes_taken sandboxes_taken(const struct sandboxes *set) {
    struct sandboxes_taken taken = {0};
    for (const struct sandbox *sandbox = set->first; sandbox; sandbox = sandbox->next) {
        if (sandbox->state == SANDBOX_ENDING)
            continue;
        taken.count++;
        taken.memory += sandbox->record.limits.memory;
    }
    return taken;
}

size_t sandboxes_paused(const struct sandboxes *set) {
    return set->paused;
}

struct ev_loop *sandbox_loop(const struct sandbox *sandbox) {
    return sandbox->set->config.loop;
}

void sandboxes_link(struct sandboxes *set, struct sandbox *sandbox) {
    sandbox->next = set->first;
    sandbox->previous = NULL;
    if (set->first)
        set->first->previous = sandbox;
    set->first = sandbox;
    set->count++;
    set->config.on_change(set->config.user);
}

void sandboxes_unlink(struct sandboxes *set, struct sandbox *sandbox) {
    if (sandbox->previous)
        sandbox->previous->next = sandbox->next;
    else
        set->first = sandbox->next;
    if (sandbox->next)
        sandbox->next->previous = sandbox->previous;
    set->count--;
    set->config.on_change(set->config.user);
}

static bool is_shown(const struct sandbox *sandbox) {
    return sandbox->state != SANDBOX_STARTING && sandbox->state != SANDBOX_ENDING;
}

struct sandbox *sandboxes_find(struct sandboxes *set, const char *id) {
    for (struct sandbox *sandbox = set->first; sandbox; sandbox = sandbox->next)
        if (is_shown(sandbox) && strcmp(sandbox->record.id, id) == 0)
            return sandbox;
    return NULL;
}

const struct sandbox_record **sandboxes_records(struct sandboxes *set, size_t *count) {
    *count = 0;
    for (struct sandbox *sandbox = set->first; sandbox; sandbox = sandbox->next)
        *count += is_shown(sandbox);
    const struct sandbox_record **records = *count ? malloc(*count * sizeof *records) : NULL;
    size_t used = 0;
    for (struct sandbox *sandbox = set->first; records && sandbox; sandbox = sandbox->next)
        if (is_shown(sandbox))
            records[used++] = &sandbox->record;
    return records;
}

json_t *sandboxes_isolation_describe(const struct sandboxes *set) {
    json_t *object = host_isolation_describe(&set->isolation);
    json_object_set_new(object, "refusedCallsCounted",
                        json_boolean(syscall_filter_is_counted(set->config.filter)));
    return object;
}

json_t *sandboxes_zygotes_describe(const struct sandboxes *set) {
    return zygotes_describe(set->zygotes);
}

void sandboxes_end_all(struct sandboxes *set, const char *cause) {
    for (struct sandbox *sandbox = set->first, *next; sandbox; sandbox = next) {
        next = sandbox->next;
        sandbox_end(sandbox, cause, NULL, NULL);
    }
}

void sandboxes_keep_child(struct sandboxes *set, struct kept_child *child) {
    child->next = set->kept;
    set->kept = child;
}

void sandboxes_drop_child(struct sandboxes *set, struct kept_child *child) {
    struct kept_child **at = &set->kept;
    while (*at != child)
        at = &(*at)->next;
    *at = child->next;
}

static bool is_needed(pid_t pid, void *user) {
    const struct sandboxes *set = user;
    if (zygotes_has(set->zygotes, pid))
        return true;
    for (const struct kept_child *child = set->kept; child; child = child->next)
        if (child->pid == pid)
            return true;
    for (const struct sandbox *sandbox = set->first; sandbox; sandbox = sandbox->next)
        if ((sandbox->process.bwrap_pid == pid && !sandbox->process.bwrap_ended) ||
            network_is_process(sandbox->network, pid))
            return true;
    return false;
}

void sandboxes_kill_orphans(struct sandboxes *set) {
    int killed = orphans_kill(is_needed, set);
    if (killed > 0)
        log_debug("killed %d processes that had lost their bwrap", killed);
}

static bool is_taken(const struct sandboxes *set, uint32_t uid) {
    for (const struct sandbox *sandbox = set->first; sandbox; sandbox = sandbox->next)
        if (sandbox->ids.uid == uid)
            return true;
    return false;
}

void sandboxes_choose_ids(struct sandboxes *set, struct sandbox_ids *ids) {
    const struct id_space *space = &set->isolation.ids;
    uint32_t tries = space->kind == IDS_SINGLE ? 1 : space->slices;
    do
        id_space_cut(space, set->next_slice++, ids);
    while (--tries > 0 && is_taken(set, ids->uid));
}
