/*
 * sandbox.h - sandboxes: how they start, live and end.
 *
 * A sandbox is `starting` until its agent has answered /init, `running` until somebody or something
 * ends it, and `ending` until its processes are gone; then it is freed. In between it may be
 * `pausing`, `paused` and `resuming`, any number of times. Only those that are neither starting nor
 * ending are found by id and listed.
 */
#ifndef STEPBOX_SANDBOX_H
#define STEPBOX_SANDBOX_H

#include <ev.h>
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "network.h"
#include "sandbox_limits.h"
#include "id_space.h"
#include "payload.h"
#include "sandbox_record.h"
#include "syscall_filter.h"

struct cgroups;
struct sandbox;
struct sandbox_log;
struct sandboxes;

typedef struct sandboxes_config {
    struct ev_loop *loop; /* the default loop: only that one sees children end */
    const struct payload *payload;
    struct syscall_filter *filter;
    struct cgroups *cgroups;
    const char *bwrap;                /* absolute, or "" */
    bool fork_runners, share_zygotes; /* see zygote.h */
    size_t fresh_zygotes;
    void (*on_change)(void *user); /* a sandbox came or went */
    void *user;
} sandboxes_config;

/* NULL when out of memory. The config's pointers must live as long. */
struct sandboxes *sandboxes_new(const sandboxes_config *config);
/* End all and wait for that (sandboxes_count() == 0) before. */
void sandboxes_free(struct sandboxes *set);
/* In any state. */
size_t sandboxes_count(const struct sandboxes *set);
/* What those that nothing has ended yet were promised. */
struct sandboxes_taken {
    size_t count;
    int64_t memory; /* bytes: the sum of their limits */
};
struct sandboxes_taken sandboxes_taken(const struct sandboxes *set);
/* How many are paused, or on the way to or from that. */
size_t sandboxes_paused(const struct sandboxes *set);
/* NULL when none with this id is running or paused. */
struct sandbox *sandboxes_find(struct sandboxes *set, const char *id);
/* The records of the running and paused ones, in no particular order; free() the array. NULL with
 * *count 0 when there are none, NULL with *count > 0 when out of memory. */
const struct sandbox_record **sandboxes_records(struct sandboxes *set, size_t *count);
/* How well the host keeps them apart; NULL when out of memory. */
json_t *sandboxes_isolation_describe(const struct sandboxes *set);
/* What runners are forked from; NULL when out of memory. */
json_t *sandboxes_zygotes_describe(const struct sandboxes *set);
/* A child of the engine that is no part of a sandbox, nor of what this set starts: as long as it is
 * in the list it is not taken for what a killed sandbox has left. The caller's memory. */
struct kept_child {
    struct kept_child *next;
    pid_t pid;
};
void sandboxes_keep_child(struct sandboxes *set, struct kept_child *child);
void sandboxes_drop_child(struct sandboxes *set, struct kept_child *child);
void sandboxes_end_all(struct sandboxes *set, const char *cause);

typedef struct sandbox_request {
    const char *template_id, *alias;
    bool secure;             /* with an access token */
    network_config *network; /* taken when a sandbox is made */
    bool guarded;            /* traffic for its ports has to show a token */
    struct limits limits;
    bool auto_pause;     /* when its time is over, instead of ending */
    bool auto_resume;    /* by traffic for one of its ports */
    int timeout;         /* seconds to live */
    json_t *metadata;    /* borrowed; or NULL */
    json_t *environment; /* borrowed; or NULL */
    int snapshot_fd;     /* the archive of the files that it begins with; not taken; -1: none */
    int lease_fd; /* pidfd of the process that it shall not outlive, taken also on failure; or -1 */
} sandbox_request;

/* Called once. `status` is 201 and sandbox running, or an HTTP status for the error and sandbox
 * NULL. */
typedef void sandbox_started(struct sandbox *sandbox, int status, const char *message, void *user);

/* Starts one; `started` is called later. NULL when that was not possible, with *status and message.
 */
struct sandbox *sandbox_create(struct sandboxes *set, const sandbox_request *request,
                               sandbox_started *started, void *user, int *status, char *message,
                               size_t room);

/* Called once, when its processes are gone (or, with gone false, could not be killed within two
 * seconds). */
typedef void sandbox_ended(bool gone, void *user);

/* Ends it: it is not found any more at once. `cause` is logged. `ended` may be NULL, and is called
 * later. Returns -1 when out of memory: then it ends, but ended is not called. */
int sandbox_end(struct sandbox *sandbox, const char *cause, sandbox_ended *ended, void *user);

const struct sandbox_record *sandbox_record_of(const struct sandbox *sandbox);
/* sandbox_metrics.c: what it takes of its host: now, and at the samples of a period (Unix seconds).
 * New references. */
json_t *sandbox_metrics_now(const struct sandbox *sandbox);
json_t *sandbox_metrics_list(const struct sandbox *sandbox, int64_t start, int64_t end);
/* sandbox_cgroup.c: its limits, and by what they hold. A new reference. */
json_t *sandbox_limits_describe(const struct sandbox *sandbox);
/* sandbox_network.c: changes the network of a running one; the configuration is taken. */
void sandbox_set_network(struct sandbox *sandbox, network_config *config, network_done *done,
                         void *user);
const struct network *sandbox_network_of(const struct sandbox *sandbox);
/* sandbox_runners.c: what came of the runners that it asked for. A new reference. */
json_t *sandbox_runners_describe(const struct sandbox *sandbox);
const struct sandbox_log *sandbox_log_of(const struct sandbox *sandbox);
/* How often it has tried which system call that it may not make; see refused_calls.h. */
json_t *sandbox_refused_describe(const struct sandbox *sandbox);

/* Neither paused nor on the way to or from that. */
bool sandbox_is_running(const struct sandbox *sandbox);
/* The same, as clients see it: also while it is held. */
bool sandbox_seems_running(const struct sandbox *sandbox);

/* It goes on soon, without more: resuming, or held. */
bool sandbox_is_resuming(const struct sandbox *sandbox);

/* Traffic has come for it: it goes on if it is paused, or about to be, and may do so. */
void sandbox_heard(struct sandbox *sandbox);
/* How long it then lives. */
int sandbox_seconds_after_traffic(const struct sandbox *sandbox);

/* Called once. status 0: it is so, and sandbox there; else an HTTP status and why not, and sandbox
 * NULL unless it still exists. */
typedef void sandbox_settled(struct sandbox *sandbox, int status, const char *message, void *user);

/* Stops everything in it; its time to live does not go on. 0 and settled (may be NULL) is called
 * later; or an HTTP status and a message, and it is not. */
int sandbox_pause(struct sandbox *sandbox, sandbox_settled *settled, void *user, char *message,
                  size_t room);
/* Lets it go on, with `seconds` to live from then; also one that is just pausing. The same returns.
 * Only for one that is not running. */
int sandbox_resume(struct sandbox *sandbox, int seconds, sandbox_settled *settled, void *user,
                   char *message, size_t room);

/* Has it stand still until sandbox_release_hold(), whatever is asked for meanwhile: to whom it ran
 * it looks as if it ran on slowly. The same returns. */
int sandbox_hold(struct sandbox *sandbox, sandbox_settled *settled, void *user, char *message,
                 size_t room);
/* settled (may be NULL) is called when it runs again, or stays paused, or has ended: later, or at
 * once. */
void sandbox_release_hold(struct sandbox *sandbox, sandbox_settled *settled, void *user);

/* A pidfd of its bubblewrap, whose mounts are those that it has been made of; -1 with errno. */
int sandbox_open_bwrap(const struct sandbox *sandbox);
const struct sandbox_ids *sandbox_ids_of(const struct sandbox *sandbox);

/* What happens when its time is over. */
void sandbox_set_auto_pause(struct sandbox *sandbox, bool auto_pause);

/* Moves its end to `seconds` from now. Only while it seems to run. */
void sandbox_set_timeout(struct sandbox *sandbox, int seconds);
/* The same, but never to an earlier time than it has. */
void sandbox_extend(struct sandbox *sandbox, int seconds);

/* Ties it to a process (pidfd, taken), in place of the one before; -1 ties it to none. */
void sandbox_set_lease(struct sandbox *sandbox, int pidfd);

/* Hands a connected stream socket (taken) to its agent, for one of its ports; announce: the agent
 * shall say when the port has accepted it (CONTROL_ANNOUNCE). 0, or -1 when it cannot take more. */
int sandbox_connect(struct sandbox *sandbox, int fd, uint16_t port, bool announce);

#endif
