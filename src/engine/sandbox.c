/* sandbox.c - the states of a sandbox, and what moves it from one to the next. */
#include "sandbox_internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "control_socket.h"
#include "log.h"
#include "remedy.h"
#include "rfc3339.h"

/* Seconds. */
#define START_DEADLINE 30.0
#define END_DEADLINE 2.0

#define AGENT_PORT 49983

static bool is_paused(const struct sandbox *sandbox) {
    return sandbox->state == SANDBOX_PAUSING || sandbox->state == SANDBOX_PAUSED ||
           sandbox->state == SANDBOX_RESUMING;
}

void sandbox_set_state(struct sandbox *sandbox, enum sandbox_state state, const char *why) {
    static const char *const names[] = {"starting", "running",  "pausing",
                                        "paused",   "resuming", "ending"};
    log_info("sandbox %s: %s (%s)", sandbox->record.id, names[state], why);
    sandbox_log_add(&sandbox->log, LOG_LEVEL_INFO, "%s: %s", names[state], why);
    sandbox->set->paused -= is_paused(sandbox);
    sandbox->state = state;
    sandbox->set->paused += is_paused(sandbox);
}

/* Tells whoever made it, once. */
static void tell_started(struct sandbox *sandbox, struct sandbox *running, int status,
                         const char *message) {
    sandbox_started *started = sandbox->started;
    sandbox->started = NULL;
    if (started)
        started(running, status, message, sandbox->started_user);
}

static void tell_ended(struct sandbox *sandbox, bool gone) {
    struct ended_waiter *waiters = sandbox->waiters;
    size_t count = sandbox->waiter_count;
    sandbox->waiters = NULL;
    sandbox->waiter_count = 0;
    for (size_t i = 0; i < count; i++)
        waiters[i].ended(gone, waiters[i].user);
    free(waiters);
}

static void release(struct sandbox *sandbox) {
    sandbox_process_close(sandbox);
    sandbox_metrics_close(sandbox);
    sandbox_cgroup_close(sandbox);
    ev_timer_stop(sandbox_loop(sandbox), &sandbox->end_deadline);
    sandboxes_unlink(sandbox->set, sandbox);
    json_decref(sandbox->record.metadata);
    sandbox_network_close(sandbox);
    sandbox_log_free(&sandbox->log);
    refused_calls_free(sandbox->refused);
    free(sandbox->waiters);
    free(sandbox);
}

/* Why it did not start, in words for people. Nothing to tell when it did. */
static void tell_failure(struct sandbox *sandbox) {
    if (!sandbox->started)
        return;
    int status = sandbox->failure_status ? sandbox->failure_status : 503;
    if (!sandbox->failure_status)
        remedy_explain(sandbox->process.errors, sandbox->failure, sizeof sandbox->failure);
    log_warn("sandbox %s did not start: %s", sandbox->record.id, sandbox->failure);
    tell_started(sandbox, NULL, status, sandbox->failure);
}

void sandbox_process_changed(struct sandbox *sandbox) {
    if (sandbox->state != SANDBOX_ENDING)
        sandbox_end(sandbox, sandbox_end_cause(sandbox), NULL, NULL);
    if (!sandbox_process_gone(sandbox))
        return;
    log_info("sandbox %s: gone", sandbox->record.id);
    tell_failure(sandbox);
    tell_ended(sandbox, true);
    release(sandbox);
}

static void on_end_deadline(struct ev_loop *loop, ev_timer *timer, int events) {
    (void)loop, (void)events;
    struct sandbox *sandbox = timer->data;
    log_warn("sandbox %s: killed, but its processes are still there", sandbox->record.id);
    tell_failure(sandbox);
    tell_ended(sandbox, false);
}

static int add_waiter(struct sandbox *sandbox, sandbox_ended *ended, void *user) {
    if (!ended)
        return 0;
    struct ended_waiter *waiters =
        realloc(sandbox->waiters, (sandbox->waiter_count + 1) * sizeof *sandbox->waiters);
    if (!waiters)
        return -1;
    sandbox->waiters = waiters;
    waiters[sandbox->waiter_count++] = (struct ended_waiter){ended, user};
    return 0;
}

int sandbox_end(struct sandbox *sandbox, const char *cause, sandbox_ended *ended, void *user) {
    int result = add_waiter(sandbox, ended, user);
    if (sandbox->state == SANDBOX_ENDING)
        return result;
    struct ev_loop *loop = sandbox_loop(sandbox);
    sandbox_set_state(sandbox, SANDBOX_ENDING, cause);
    ev_timer_stop(loop, &sandbox->start_deadline);
    ev_timer_stop(loop, &sandbox->life);
    sandbox_set_lease(sandbox, -1);
    sandbox_pause_close(sandbox);
    if (sandbox->init)
        init_exchange_cancel(sandbox->init);
    sandbox->init = NULL;
    sandbox_process_kill(sandbox);
    network_stop(sandbox->network);
    sandbox_link_close(sandbox);
    ev_timer_start(loop, &sandbox->end_deadline);
    return result;
}

/* Ends one that did not come up. status 0: bwrap's stderr says why. */
static void fail_start(struct sandbox *sandbox, int status, const char *message) {
    sandbox->failure_status = status;
    snprintf(sandbox->failure, sizeof sandbox->failure, "%s", message);
    sandbox_end(sandbox, "it did not start", NULL, NULL);
}

static void on_network_ready(const char *error, void *user) {
    struct sandbox *sandbox = user;
    if (sandbox->state != SANDBOX_STARTING)
        return;
    if (error) {
        fail_start(sandbox, 503, error);
        return;
    }
    ev_timer_stop(sandbox_loop(sandbox), &sandbox->start_deadline);
    sandbox_set_state(sandbox, SANDBOX_RUNNING, "its agent is ready");
    sandbox_metrics_open(sandbox);
    tell_started(sandbox, sandbox, 201, NULL);
    sandbox_pause_begin_asked(sandbox); /* its time may be over already */
}

static void on_init_answer(int status, void *user) {
    struct sandbox *sandbox = user;
    sandbox->init = NULL;
    if (status == 204) {
        sandbox_network_start(sandbox, on_network_ready, sandbox);
    } else if (status < 0) {
        /* bwrap or the agent has ended, or is about to. */
        fail_start(sandbox, 0, "");
    } else {
        char message[128];
        snprintf(message, sizeof message,
                 "the agent of the sandbox refused its configuration (HTTP status %d)", status);
        fail_start(sandbox, 500, message);
    }
}

static void on_start_deadline(struct ev_loop *loop, ev_timer *timer, int events) {
    (void)loop, (void)events;
    fail_start(timer->data, 504, "the agent of the sandbox did not answer within 30 seconds");
}

static void on_life_over(struct ev_loop *loop, ev_timer *timer, int events) {
    (void)loop, (void)events;
    struct sandbox *sandbox = timer->data;
    char message[128];
    int seconds = sandbox->record.timeout;
    if (sandbox->state == SANDBOX_STARTING && !sandbox->record.auto_pause) {
        snprintf(message, sizeof message, "its time (%d second%s) was over before it had started",
                 seconds, seconds == 1 ? "" : "s");
        fail_start(sandbox, 504, message);
        return;
    }
    if (!sandbox->record.auto_pause ||
        sandbox_pause(sandbox, NULL, NULL, message, sizeof message) != 0)
        sandbox_end(sandbox, "its time is over", NULL, NULL);
}

static void on_lease_ended(struct ev_loop *loop, ev_io *io, int events) {
    (void)loop, (void)events;
    sandbox_end(io->data, "the process that holds its lease has ended", NULL, NULL);
}

/* Sends POST /init. 0, or -1 with errno. */
static int send_init(struct sandbox *sandbox, json_t *environment) {
    char now[RFC3339_SIZE];
    rfc3339_format(rfc3339_now(), now);
    json_t *body = json_pack("{s:o, s:s, s:s}", "envVars",
                             environment ? json_incref(environment) : json_object(), "defaultUser",
                             "user", "timestamp", now);
    if (body && sandbox->record.token[0])
        json_object_set_new(body, "accessToken", json_string(sandbox->record.token));
    char *text = body ? json_dumps(body, JSON_COMPACT) : NULL;
    json_decref(body);
    int ends[2] = {-1, -1};
    if (text && socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) == 0) {
        sandbox->init = init_exchange_start(sandbox_loop(sandbox), ends[0], text, strlen(text),
                                            on_init_answer, sandbox);
        if (!sandbox->init)
            close(ends[1]);
        else if (sandbox_link_send(sandbox, ends[1], AGENT_PORT, CONTROL_FROM_ENGINE) < 0)
            log_debug("sandbox %s ended before it was configured", sandbox->record.id);
        /* In the second case the exchange sees the end of its connection. */
    }
    free(text);
    return sandbox->init ? 0 : -1;
}

static void on_first_refused(const char *name, void *user) {
    struct sandbox *sandbox = user;
    sandbox_log_add(&sandbox->log, LOG_LEVEL_WARN,
                    "the system call %s was refused; more of them are counted and not told", name);
}

/* Sets record, timers and the rest of one that has no process yet. */
static int prepare(struct sandbox *sandbox, struct sandboxes *set, const sandbox_request *request) {
    struct sandbox_record *record = &sandbox->record;
    sandbox->set = set;
    sandbox->lease_fd = -1;
    if (random_sandbox_id(record->id) < 0 ||
        (request->secure && random_access_token(record->token) < 0) ||
        (request->guarded && random_access_token(record->traffic_token) < 0))
        return -1;
    sandbox->refused = refused_calls_new(set->refused, on_first_refused, sandbox);
    if (!sandbox->refused)
        return -1;
    snprintf(record->template_id, sizeof record->template_id, "%s", request->template_id);
    record->alias = request->alias;
    record->metadata = json_incref(request->metadata);
    record->limits = request->limits;
    record->auto_pause = request->auto_pause;
    record->auto_resume = request->auto_resume;
    record->started_at = rfc3339_now();
    ev_timer_init(&sandbox->start_deadline, on_start_deadline, START_DEADLINE, 0.0);
    ev_timer_init(&sandbox->life, on_life_over, 0.0, 0.0);
    ev_timer_init(&sandbox->end_deadline, on_end_deadline, END_DEADLINE, 0.0);
    ev_io_init(&sandbox->lease_ended, on_lease_ended, -1, EV_READ);
    sandbox->start_deadline.data = sandbox->life.data = sandbox->end_deadline.data = sandbox;
    sandbox->lease_ended.data = sandbox;
    sandboxes_choose_ids(set, &sandbox->ids);
    sandbox_pause_init(sandbox);
    return sandbox_network_open(sandbox, request->network);
}

struct sandbox *sandbox_create(struct sandboxes *set, const sandbox_request *request,
                               sandbox_started *started, void *user, int *status, char *message,
                               size_t room) {
    *status = 503;
    struct sandbox *sandbox = NULL;
    if (set->isolation.impossible)
        snprintf(message, room,
                 "the engine runs as root, and there is no unprivileged user to give to a sandbox: "
                 "run it as an ordinary user");
    else if (!(sandbox = calloc(1, sizeof *sandbox)) || prepare(sandbox, set, request) < 0)
        snprintf(message, room, "the sandbox could not be started: %s", strerror(errno));
    else if (sandbox_process_start(sandbox, request->snapshot_fd, message, room) == 0) {
        ev_now_update(set->config.loop); /* the fork took time, and the timers count from now */
        sandboxes_link(set, sandbox);
        sandbox->started = started;
        sandbox->started_user = user;
        sandbox_set_state(sandbox, SANDBOX_STARTING, "asked for");
        sandbox_set_timeout(sandbox, request->timeout);
        sandbox_set_lease(sandbox, request->lease_fd);
        ev_timer_start(set->config.loop, &sandbox->start_deadline);
        if (send_init(sandbox, request->environment) < 0)
            fail_start(sandbox, 503,
                       "the agent of the sandbox cannot be reached: out of memory or descriptors");
        return sandbox;
    }
    if (request->lease_fd >= 0)
        close(request->lease_fd);
    if (sandbox) {
        sandbox_cgroup_close(sandbox);
        json_decref(sandbox->record.metadata);
        sandbox_network_close(sandbox);
        sandbox_log_free(&sandbox->log);
        refused_calls_free(sandbox->refused);
    }
    free(sandbox);
    return NULL;
}

const struct sandbox_record *sandbox_record_of(const struct sandbox *sandbox) {
    return &sandbox->record;
}

json_t *sandbox_refused_describe(const struct sandbox *sandbox) {
    return refused_calls_describe(sandbox->refused);
}

const struct sandbox_log *sandbox_log_of(const struct sandbox *sandbox) {
    return &sandbox->log;
}

void sandbox_set_timeout(struct sandbox *sandbox, int seconds) {
    struct ev_loop *loop = sandbox_loop(sandbox);
    sandbox_log_add(&sandbox->log, LOG_LEVEL_INFO, "timeout: %d seconds from now", seconds);
    sandbox->record.timeout = seconds;
    sandbox->record.end_at = rfc3339_now() + (int64_t)seconds * 1000;
    if (sandbox->pause.ran) { /* its time goes on when it does */
        sandbox->pause.left = sandbox->pause.seconds = seconds;
        return;
    }
    ev_timer_stop(loop, &sandbox->life);
    ev_timer_set(&sandbox->life, (double)seconds, 0.0);
    ev_timer_start(loop, &sandbox->life);
}

void sandbox_extend(struct sandbox *sandbox, int seconds) {
    /* By the timer's clock, which does not jump. */
    ev_tstamp left = sandbox->pause.ran ? sandbox->pause.left
                                        : ev_timer_remaining(sandbox_loop(sandbox), &sandbox->life);
    if (left < (double)seconds)
        sandbox_set_timeout(sandbox, seconds);
}

void sandbox_set_lease(struct sandbox *sandbox, int pidfd) {
    struct ev_loop *loop = sandbox_loop(sandbox);
    if (pidfd >= 0)
        sandbox_log_add(&sandbox->log, LOG_LEVEL_INFO, "lease: held by a process");
    else if (sandbox->lease_fd >= 0 && sandbox->state != SANDBOX_ENDING)
        sandbox_log_add(&sandbox->log, LOG_LEVEL_INFO, "lease: released");
    ev_io_stop(loop, &sandbox->lease_ended);
    if (sandbox->lease_fd >= 0)
        close(sandbox->lease_fd);
    sandbox->lease_fd = pidfd;
    if (pidfd >= 0) {
        ev_io_set(&sandbox->lease_ended, pidfd, EV_READ);
        ev_io_start(loop, &sandbox->lease_ended);
    }
}
