#include "engine.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "control_plane.h"
#include "fields.h"
#include "listener.h"
#include "log.h"
#include "report.h"
#include "rfc3339.h"

#define MAX_BODY (1024 * 1024)
#define MAX_CONNECTIONS 4000
/* Descriptors that connections leave to everything else: sandboxes, payload, the loop. */
#define RESERVED_DESCRIPTORS 256
/* A connection has its own, and both ends of the pair that leads to its target; one more is on its
 * way. */
#define DESCRIPTORS_PER_CONNECTION 4
/* Seconds for the sandboxes to end when the engine stops. */
#define STOP_DEADLINE 3.0

/* Seconds for the answer to whoever asked the engine to leave. */
#define FAREWELL_DEADLINE 0.1

/* The part of the host's memory that sandboxes may take in all, whatever each one may take. */
#define MEMORY_OF_ALL_SANDBOXES 0.8

/* The engine and what only this file needs. */
struct running {
    struct engine engine;       /* the first: engine_leave() gets no more */
    struct socket_claim *claim; /* NULL without a unix socket */
    struct payload payload;
    http_server *server;
    struct listener unix_listener, tcp_listener;
    ev_signal terminate, interrupt, hangup;
    ev_timer idle, stop_deadline, farewell;
    bool answering; /* one that asked the engine to leave is still being told */
};

static void give_up_socket(struct running *running) {
    if (!running->claim || running->claim->listen_fd < 0)
        return;
    socket_claim_close(running->claim);
    socket_claim_withdraw(running->claim);
}

/* Ends the loop once all is done. */
static void stop_when_done(struct running *running) {
    const struct engine *engine = &running->engine;
    if (sandboxes_count(engine->sandboxes) == 0 &&
        (!running->answering || gateway_count(engine->gateway) == 0))
        ev_break(engine->loop, EVBREAK_ALL);
}

static void stop(struct running *running) {
    if (running->engine.stopping)
        return;
    running->engine.stopping = true;
    struct ev_loop *loop = running->engine.loop;
    ev_timer_stop(loop, &running->idle);
    if (running->claim)
        listener_stop(&running->unix_listener);
    give_up_socket(running);
    if (running->engine.options->serve_tcp)
        listener_stop(&running->tcp_listener);
    sandboxes_end_all(running->engine.sandboxes, "the engine stops");
    ev_timer_start(loop, &running->stop_deadline);
    stop_when_done(running);
}

static void on_farewell(struct ev_loop *loop, ev_timer *timer, int events) {
    (void)loop, (void)events;
    struct running *running = timer->data;
    running->answering = false;
    stop_when_done(running);
}

void engine_leave(struct engine *engine) {
    struct running *running = (struct running *)engine;
    if (running->engine.stopping)
        return;
    log_info("stopping: a client asked for it");
    running->answering = true;
    ev_timer_start(engine->loop, &running->farewell);
    stop(running);
}

static void on_signal(struct ev_loop *loop, ev_signal *watcher, int events) {
    (void)loop, (void)events;
    log_info("stopping: signal %d", watcher->signum);
    stop(watcher->data);
}

static void on_stop_deadline(struct ev_loop *loop, ev_timer *timer, int events) {
    (void)timer, (void)events;
    log_warn("some sandboxes have not ended yet"); /* the watchdog kills what is left */
    ev_break(loop, EVBREAK_ALL);
}

/* A sandbox or a connection came or went: the engine may be idle now, or not any more. */
static void on_change(void *user) {
    struct running *running = user;
    struct engine *engine = &running->engine;
    size_t sandboxes = engine->sandboxes ? sandboxes_count(engine->sandboxes) : 0;
    size_t connections = engine->gateway ? gateway_count(engine->gateway) : 0;
    if (running->engine.stopping) {
        if (engine->sandboxes && engine->gateway)
            stop_when_done(running);
        return;
    }
    ev_timer_stop(engine->loop, &running->idle);
    size_t snapshots = engine->snapshots ? snapshots_count(engine->snapshots) : 0;
    if (sandboxes == 0 && connections == 0 && snapshots == 0 && engine->options->idle_timeout > 0) {
        ev_timer_set(&running->idle, engine->options->idle_timeout, 0.0);
        ev_timer_start(engine->loop, &running->idle);
    }
}

static void on_idle(struct ev_loop *loop, ev_timer *timer, int events) {
    (void)loop, (void)events;
    struct running *running = timer->data;
    if (running->claim) {
        listener_stop(&running->unix_listener);
        if (!socket_claim_leave(running->claim)) {
            /* A client came just now, or another engine is looking at the socket. */
            listener_start(&running->unix_listener, running->engine.loop, running->claim->listen_fd,
                           TRANSPORT_UNIX, running->engine.gateway);
            on_change(running);
            return;
        }
    }
    log_info("leaving: idle");
    stop(running);
}

/* As many descriptors as we may have. Returns how many connections they allow. */
static size_t raise_descriptors(void) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
        return 64;
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    getrlimit(RLIMIT_NOFILE, &limit);
    if (limit.rlim_cur >= RESERVED_DESCRIPTORS + MAX_CONNECTIONS * DESCRIPTORS_PER_CONNECTION)
        return MAX_CONNECTIONS;
    if (limit.rlim_cur <= 2 * RESERVED_DESCRIPTORS)
        return RESERVED_DESCRIPTORS / DESCRIPTORS_PER_CONNECTION;
    return (limit.rlim_cur - RESERVED_DESCRIPTORS) / DESCRIPTORS_PER_CONNECTION;
}

/* 0, or -1 with message. */
static int set_up(struct running *running, const struct options *options, char *message,
                  size_t room) {
    struct engine *engine = &running->engine;
    engine->options = options;
    engine->loop = ev_default_loop(EVFLAG_AUTO);
    size_t max_connections = raise_descriptors();
    host_facts_read(&engine->host, options->domain);
    if (engine_config_load(&engine->config, options->config, &engine->host, message, room) < 0)
        return -1;
    if (payload_load(&running->payload, options->agent, options->runners, message, room) < 0)
        return -1;
    engine->filter = syscall_filter_new(message, room);
    if (!engine->filter)
        return -1;
    snprintf(message, room, "out of memory or descriptors");
    if (!engine->loop)
        return -1;
    ev_timer_init(&running->idle, on_idle, 0.0, 0.0);
    ev_timer_init(&running->stop_deadline, on_stop_deadline, STOP_DEADLINE, 0.0);
    ev_timer_init(&running->farewell, on_farewell, FAREWELL_DEADLINE, 0.0);
    running->idle.data = running->farewell.data = running;
    engine->payload = &running->payload;
    engine->started_at = rfc3339_now();
    engine->socket = running->claim ? running->claim->path : NULL;
    engine->cgroups = cgroups_open(
        engine->loop, (int64_t)(engine->host.memory_mb * MEMORY_OF_ALL_SANDBOXES) * LIMITS_MIB);
    if (!engine->cgroups)
        return -1;
    json_t *config = engine->config.file;
    engine->sandboxes = sandboxes_new(
        &(sandboxes_config){.loop = engine->loop,
                            .payload = &running->payload,
                            .filter = engine->filter,
                            .cgroups = engine->cgroups,
                            .bwrap = options->bwrap,
                            .fork_runners = fields_boolean(config, "forkRunners", true),
                            .share_zygotes = fields_boolean(config, "shareZygotes", false),
                            .fresh_zygotes = (size_t)fields_integer(config, "freshZygotes", 2),
                            .on_change = on_change,
                            .user = running});
    engine->idempotency = engine->sandboxes ? idempotency_new(engine->sandboxes) : NULL;
    engine->snapshots = snapshots_new(&(snapshots_config){
        .most = engine->config.max_snapshots, .on_change = on_change, .user = running});
    if (!engine->idempotency || !engine->snapshots)
        return -1;
    engine->gateway = gateway_new(&(gateway_config){.loop = engine->loop,
                                                    .sandboxes = engine->sandboxes,
                                                    .max_connections = max_connections,
                                                    .api_key = options->api_key,
                                                    .on_change = on_change,
                                                    .user = running});
    running->server = http_server_new(engine->loop, control_plane_handle, engine, MAX_BODY);
    if (!engine->gateway || !running->server)
        return -1;
    http_server_on_head(running->server, control_plane_head);
    gateway_set_control(engine->gateway, running->server);
    return 0;
}

static void watch_signal(struct running *running, ev_signal *watcher, int number) {
    struct sigaction before;
    /* Whoever started us with the signal ignored (nohup) wants it to stay so. */
    if (number != SIGTERM && sigaction(number, NULL, &before) == 0 && before.sa_handler == SIG_IGN)
        return;
    ev_signal_init(watcher, on_signal, number);
    watcher->data = running;
    ev_signal_start(running->engine.loop, watcher);
}

static void tear_down(struct running *running) {
    struct engine *engine = &running->engine;
    running->engine.stopping = true;
    if (engine->gateway)
        gateway_free(engine->gateway);
    if (running->server)
        http_server_free(running->server);
    idempotency_free(engine->idempotency);
    snapshots_free(engine->snapshots);
    if (engine->sandboxes && sandboxes_count(engine->sandboxes) == 0)
        sandboxes_free(engine->sandboxes);
    cgroups_close(engine->cgroups);
    syscall_filter_free(engine->filter);
    payload_free(&running->payload);
    engine_config_free(&engine->config);
    if (engine->loop)
        ev_loop_destroy(engine->loop);
}

int engine_run(const struct options *options, struct socket_claim *claim, int tcp_fd,
               int report_fd) {
    struct running running = {.claim = claim};
    char message[1024];
    /* Orphans of a killed bwrap come to us. */
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    if (set_up(&running, options, message, sizeof message) < 0) {
        give_up_socket(&running); /* before anybody is told, and tries again */
        report_error(report_fd, message);
        tear_down(&running);
        return 1;
    }
    struct ev_loop *loop = running.engine.loop;
    watch_signal(&running, &running.terminate, SIGTERM);
    watch_signal(&running, &running.interrupt, SIGINT);
    watch_signal(&running, &running.hangup, SIGHUP);
    if (claim)
        listener_start(&running.unix_listener, loop, claim->listen_fd, TRANSPORT_UNIX,
                       running.engine.gateway);
    if (tcp_fd >= 0)
        listener_start(&running.tcp_listener, loop, tcp_fd, TRANSPORT_TCP, running.engine.gateway);
    on_change(&running);
    log_info("serving");
    report_ready(report_fd);
    ev_run(loop, 0);
    log_info("stopped");
    tear_down(&running);
    return 0;
}
