#include "ownership.h"

#include "error.h"
#include "multi.h"
#include "sigpipe.h"
#include "timestamp.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EXIT_SECONDS 2.0

/* One per process: after a fork the parent's lock may be held for ever, and its list is not ours.
 */
struct registry {
    pid_t pid;
    pthread_mutex_t lock;
    struct sbi_owned *first;
    struct registry *inherited; /* the parent's: kept, and never touched */
};

static _Atomic(struct registry *) current;

static struct registry *own_registry(void) {
    struct registry *registry = atomic_load(&current);
    while (registry == NULL || registry->pid != getpid()) {
        struct registry *fresh = calloc(1, sizeof *fresh);
        if (fresh == NULL) {
            return NULL;
        }
        fresh->pid = getpid();
        fresh->inherited = registry;
        pthread_mutex_init(&fresh->lock, NULL);
        if (atomic_compare_exchange_strong(&current, &registry, fresh)) {
            return fresh;
        }
        pthread_mutex_destroy(&fresh->lock);
        free(fresh);
    }
    return registry;
}

static int list(struct sbi_owned *owned) {
    struct registry *registry = own_registry();
    if (registry == NULL) {
        return -1;
    }
    pthread_mutex_lock(&registry->lock);
    owned->next = registry->first;
    if (owned->next != NULL) {
        owned->next->previous = owned;
    }
    registry->first = owned;
    owned->is_listed = true;
    pthread_mutex_unlock(&registry->lock);
    return 0;
}

static void unlist(struct sbi_owned *owned) {
    struct registry *registry = atomic_load(&current);
    if (!owned->is_listed || registry == NULL || registry->pid != getpid()) {
        return;
    }
    pthread_mutex_lock(&registry->lock);
    *(owned->previous != NULL ? &owned->previous->next : &registry->first) = owned->next;
    if (owned->next != NULL) {
        owned->next->previous = owned->previous;
    }
    owned->is_listed = false;
    pthread_mutex_unlock(&registry->lock);
}

struct sbi_owned *sbi_owned_new(struct sbi_config *config, const char *id, sb_error *err) {
    struct sbi_owned *owned = calloc(1, sizeof *owned);
    char *copy = strdup(id);
    if (owned == NULL || copy == NULL || (!config->local && list(owned) != 0)) {
        free(owned);
        free(copy);
        sbi_no_memory(err);
        return NULL;
    }
    owned->id = copy;
    owned->config = sbi_config_keep(config);
    return owned;
}

void sbi_owned_free(struct sbi_owned *owned) {
    if (owned != NULL) {
        unlist(owned);
        sbi_config_release(owned->config);
        free(owned->id);
        free(owned);
    }
}

struct last_kill {
    struct last_kill *next;
    struct sbi_config *config;
    char *id;
    struct sbi_kill_request request;
};

/* Copies the list, since a reaper may still work on it. */
static struct last_kill *copy_list(struct registry *registry) {
    struct last_kill *kills = NULL;
    pthread_mutex_lock(&registry->lock);
    for (struct sbi_owned *owned = registry->first; owned != NULL; owned = owned->next) {
        struct last_kill *kill = calloc(1, sizeof *kill);
        char *id = kill != NULL ? strdup(owned->id) : NULL;
        if (id == NULL) {
            free(kill);
            break;
        }
        kill->id = id;
        kill->config = sbi_config_keep(owned->config);
        kill->next = kills;
        kills = kill;
    }
    pthread_mutex_unlock(&registry->lock);
    return kills;
}

static void run_until(CURLM *multi, int64_t deadline) {
    int running = 1;
    while (curl_multi_perform(multi, &running) == CURLM_OK && running > 0) {
        int64_t left = deadline - sbi_now();
        if (left <= 0) {
            return;
        }
        curl_multi_poll(multi, NULL, 0, (int)(left / 1000000) + 1, NULL);
    }
}

void sbi_ownership_end_at_exit(void) {
    struct registry *registry = atomic_load(&current);
    if (registry == NULL || registry->pid != getpid()) {
        return;
    }
    struct last_kill *kills = copy_list(registry);
    CURLM *multi = kills != NULL ? sbi_multi_new() : NULL;
    struct sbi_sigpipe held;
    sbi_sigpipe_hold(&held, true);
    if (multi != NULL) {
        for (struct last_kill *kill = kills; kill != NULL; kill = kill->next) {
            sbi_kill_request_start(&kill->request, multi, kill->config, kill->id, EXIT_SECONDS,
                                   kill);
        }
        run_until(multi, sbi_deadline(EXIT_SECONDS));
    }
    while (kills != NULL) {
        struct last_kill *kill = kills;
        kills = kill->next;
        sbi_kill_request_end(&kill->request, multi);
        sbi_config_release(kill->config);
        free(kill->id);
        free(kill);
    }
    if (multi != NULL) {
        curl_multi_cleanup(multi);
    }
    sbi_sigpipe_release(&held);
}
