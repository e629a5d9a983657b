/*
 * sandbox_internal.h - what the parts of a sandbox share: sandboxes.c (the set), sandbox.c (its
 * states), sandbox_process.c (bubblewrap and PID 1), sandbox_link.c (connections to the agent),
 * sandbox_words.c (what the agent says), sandbox_runners.c (the runners it asks for),
 * sandbox_pause.c (between running and paused).
 */
#ifndef STEPBOX_SANDBOX_INTERNAL_H
#define STEPBOX_SANDBOX_INTERNAL_H

#include "sandbox.h"

#include <sys/types.h>

#include "cgroups.h"
#include "control_message.h"
#include "host_isolation.h"
#include "init_exchange.h"
#include "network.h"
#include "refused_calls.h"
#include "runner_jobs.h"
#include "metric_history.h"
#include "sandbox_log.h"
#include "zygote.h"

enum sandbox_state {
    SANDBOX_STARTING,
    SANDBOX_RUNNING,
    SANDBOX_PAUSING,
    SANDBOX_PAUSED,
    SANDBOX_RESUMING,
    SANDBOX_ENDING
};

struct sandboxes {
    sandboxes_config config;
    struct sandbox *first;
    size_t count;
    size_t paused; /* or pausing, or resuming */
    struct host_isolation isolation;
    uint32_t next_slice;
    struct refused_set *refused;
    struct zygotes *zygotes;
    struct kept_child *kept;
};

/* bubblewrap, and PID 1 of the sandbox. */
struct sandbox_process {
    pid_t bwrap_pid;
    bool bwrap_ended;
    int init_fd;    /* pidfd of PID 1; -1 as long as bwrap has not told, and when it has ended */
    pid_t init_pid; /* its number, as long as init_fd is open */
    int status_fd, stderr_fd;
    char status[1024]; /* what came on status_fd and is not a whole line yet */
    size_t status_used;
    char errors[2048]; /* the first that came on stderr_fd, NUL-terminated */
    size_t errors_used;
    ev_child bwrap_exit;
    ev_io init_exit, status_readable, stderr_readable;
};

/* The engine's end of the control socket, and what it had no room for. */
struct sandbox_link {
    int control_fd;
    struct waiting_message *first, *last;
    size_t waiting;
    ev_timer retry;
};

/* What the agent sends on the control socket: hostile. */
struct sandbox_words {
    ev_io readable;
    ev_timer pause; /* active: nothing is read for a while */
    int left;       /* to be read before the next pause */
    ev_tstamp since;
    bool has_listener;
};

/* While it is pausing or resuming: what is waited for, and who waits. */
struct sandbox_pause {
    ev_timer deadline; /* for the echo of the word that was said to the agent */
    ev_timer look;     /* at its group, which the kernel is freezing */
    uint16_t number;   /* of the word */
    double left;       /* seconds to live when it began to pause */
    int seconds;       /* to live from when it runs again */
    bool held;         /* by sandbox_hold() */
    bool ran;          /* when it was held: it is not shown as paused, and goes on */
    bool by_group;     /* its processes are frozen by the kernel, not stopped by the agent */
    struct pause_waiter *waiters;
};

struct ended_waiter {
    sandbox_ended *ended;
    void *user;
};

struct sandbox {
    struct sandboxes *set;
    struct sandbox *next, *previous;
    struct sandbox_record record;
    enum sandbox_state state;
    struct sandbox_ids ids;
    struct sandbox_process process;
    struct sandbox_link link;
    struct sandbox_words words;
    struct refused_calls *refused;
    struct runner_jobs *runners;
    uint64_t zygote; /* its number; 0: none yet */
    struct sandbox_log log;
    struct metric_history metrics;
    ev_timer sample;
    struct network *network;
    network_config wanted_network; /* while starting */
    struct cgroup *cgroup;         /* NULL where there are none */
    ev_tstamp oom_at; /* when the kernel last ended a process for want of memory; 0: never */
    struct sandbox_pause pause;

    struct init_exchange *init; /* while starting */
    sandbox_started *started;   /* until it was called */
    void *started_user;
    int failure_status; /* what `started` will be told; 0: whatever bwrap's stderr says */
    char failure[1024];

    struct ended_waiter *waiters;
    size_t waiter_count;

    int lease_fd; /* -1: none */
    ev_io lease_ended;
    /* One timer for each state: the agent's answer is due; the time to live is over; the kill
     * should have worked. */
    ev_timer start_deadline, life, end_deadline;
};

/* sandboxes.c */
struct ev_loop *sandbox_loop(const struct sandbox *sandbox);
void sandboxes_link(struct sandboxes *set, struct sandbox *sandbox);
void sandboxes_unlink(struct sandboxes *set, struct sandbox *sandbox);
/* Kills children of the engine that are no sandbox's bwrap: those whose bwrap was killed too early.
 */
void sandboxes_kill_orphans(struct sandboxes *set);
/* Ids of the host that no other sandbox has, as long as there are any. */
void sandboxes_choose_ids(struct sandboxes *set, struct sandbox_ids *ids);

/* sandbox.c */
/* The one place where the state changes. */
void sandbox_set_state(struct sandbox *sandbox, enum sandbox_state state, const char *why);
/* Something happened to the processes. */
void sandbox_process_changed(struct sandbox *sandbox);

/* sandbox_process.c */
int sandbox_process_start(struct sandbox *sandbox, int snapshot_fd, char *message, size_t room);
/* Takes note of what bwrap has said and nobody has read yet. */
void sandbox_process_read_status(struct sandbox *sandbox);
void sandbox_process_kill(struct sandbox *sandbox);
bool sandbox_process_gone(const struct sandbox *sandbox);
void sandbox_process_close(struct sandbox *sandbox);

/* sandbox_cgroup.c: makes its group, before it has processes. How many descriptors are in
 * join[], for cgroup_join(); or -1 with errno. */
int sandbox_cgroup_open(struct sandbox *sandbox, int join[CGROUP_JOIN_MAX]);
void sandbox_cgroup_close(struct sandbox *sandbox);
/* sandbox_metrics.c: from when it runs until its end. */
void sandbox_metrics_open(struct sandbox *sandbox);
void sandbox_metrics_close(struct sandbox *sandbox);
/* Why all of its processes ended, as far as that can be told. */
const char *sandbox_end_cause(struct sandbox *sandbox);

/* sandbox_network.c: makes it, without a link; 0, or -1 when out of memory. */
int sandbox_network_open(struct sandbox *sandbox, network_config *wanted);
/* Puts what was wanted at the start in force. */
void sandbox_network_start(struct sandbox *sandbox, network_done *done, void *user);
void sandbox_network_close(struct sandbox *sandbox);

/* sandbox_link.c */
void sandbox_link_open(struct sandbox *sandbox, int control_fd);
/* Like sandbox_connect(), with flags; in any state. */
int sandbox_link_send(struct sandbox *sandbox, int fd, uint16_t port, uint8_t flags);
/* Any message; its descriptors are taken. */
int sandbox_link_send_message(struct sandbox *sandbox, control_message *message);
void sandbox_link_close(struct sandbox *sandbox);

/* sandbox_words.c: as long as the link is open. */
void sandbox_words_open(struct sandbox *sandbox);
void sandbox_words_close(struct sandbox *sandbox);

/* sandbox_runners.c: as long as the agent is heard. */
void sandbox_runners_open(struct sandbox *sandbox);
bool sandbox_runners_take(struct sandbox *sandbox, control_message *message);
void sandbox_runners_close(struct sandbox *sandbox);

/* sandbox_pause.c */
void sandbox_pause_init(struct sandbox *sandbox);
/* It runs, for the first time or again: a pause that was asked for before begins. */
void sandbox_pause_begin_asked(struct sandbox *sandbox);
/* The agent may have sent back what it was told: false when that is something else. */
bool sandbox_pause_take(struct sandbox *sandbox, control_message *message);
/* It ends: whoever waits for a pause or its end is told. */
void sandbox_pause_close(struct sandbox *sandbox);

#endif
