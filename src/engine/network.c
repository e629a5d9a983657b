/* network.c - the link of a sandbox, and the changes of what it lets through. */
#include "network_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "log.h"
#include "network_rules.h"
#include "network_spawn.h"
#include "sandbox_log.h"

/* Seconds until a link that has gone down is made anew; doubled with each failure in a row. */
#define RESTART_FIRST 0.2
#define RESTART_MOST 30.0
/* Seconds for an answer of stepbox-egress. */
#define ANSWER_DEADLINE 20.0

/* Tells who waits for the oldest change. */
static void finish_change(struct network *network, const char *error) {
    struct change *change = network->changes;
    if (!change)
        return;
    network->changes = change->next;
    ev_timer_stop(network->owner.loop, &network->deadline);
    if (network->changes)
        ev_timer_again(network->owner.loop, &network->deadline);
    if (change->done)
        change->done(error, change->user);
    free(change);
}

/* Lets go of a stepbox-egress that has ended or shall. */
static void drop(struct network *network) {
    ev_io_stop(network->owner.loop, &network->readable);
    if (network->control_fd >= 0)
        close(network->control_fd);
    network->control_fd = -1;
    if (network->pid > 0)
        kill(network->pid, SIGKILL); /* not reaped yet, so still the same process */
    network->up = false;
}

static int add_change(struct network *network, network_done *done, void *user);
static int send_config(struct network *network);

/* The firewall names the host's addresses. When that cannot be sent the link is made anew. */
static void host_changed(struct network *network) {
    if (add_change(network, NULL, NULL) < 0 || send_config(network) < 0)
        drop(network);
}

static void read_answer(struct network *network, const char *bytes, size_t length) {
    json_t *answer = json_loadb(bytes, length, 0, NULL);
    const char *ended = json_string_value(json_object_get(answer, "ended"));
    const char *error = json_string_value(json_object_get(answer, "error"));
    if (ended) {
        snprintf(network->error, sizeof network->error, "%s", ended);
    } else if (json_object_get(answer, "host")) {
        if (network->pid > 0 && network->control_fd >= 0)
            host_changed(network);
    } else {
        if (json_is_object(answer) && !error) {
            network->up = true;
            network->restart_after = RESTART_FIRST;
        }
        if (error && !network->up)
            snprintf(network->error, sizeof network->error, "%s", error);
        finish_change(network, json_is_object(answer) ? error : "an answer is not understood");
    }
    json_decref(answer);
}

static void on_readable(struct ev_loop *loop, ev_io *io, int events) {
    (void)events;
    struct network *network = io->data;
    char bytes[4096];
    ssize_t got = recv(network->control_fd, bytes, sizeof bytes, 0);
    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (got <= 0)
        ev_io_stop(loop, io); /* its end is on its way */
    else
        read_answer(network, bytes, (size_t)got);
}

static void on_deadline(struct ev_loop *loop, ev_timer *timer, int events) {
    (void)loop, (void)events;
    struct network *network = timer->data;
    snprintf(network->error, sizeof network->error, "stepbox-egress did not answer in time");
    drop(network); /* its end tells those who wait */
}

static int send_config(struct network *network) {
    json_t *host = network_rules_host_addresses();
    char *message = host ? network_rules_message(&network->config, host) : NULL;
    json_decref(host);
    ssize_t sent = message && network->control_fd >= 0
                       ? send(network->control_fd, message, strlen(message), MSG_NOSIGNAL)
                       : -1;
    free(message);
    return sent < 0 ? -1 : 0;
}

static void on_exit_of_egress(struct ev_loop *loop, ev_child *child, int events);

static int start(struct network *network, char *message, size_t room) {
    struct ev_loop *loop = network->owner.loop;
    pid_t pid = network_spawn(network->owner.uid, network->owner.gid, network->init, network->pidfd,
                              &network->control_fd, message, room);
    if (pid < 0)
        return -1;
    network->pid = pid;
    network->error[0] = '\0';
    ev_child_init(&network->exited, on_exit_of_egress, pid, 0);
    network->exited.data = network;
    ev_child_start(loop, &network->exited);
    ev_io_set(&network->readable, network->control_fd, EV_READ);
    ev_io_start(loop, &network->readable);
    return 0;
}

static void schedule_restart(struct network *network) {
    network->restart_after *= 2;
    if (network->restart_after > RESTART_MOST)
        network->restart_after = RESTART_MOST;
    ev_timer_set(&network->restart, network->restart_after, 0.0);
    ev_timer_start(network->owner.loop, &network->restart);
}

static int add_change(struct network *network, network_done *done, void *user) {
    struct change *change = malloc(sizeof *change), **end = &network->changes;
    if (!change)
        return -1;
    *change = (struct change){.done = done, .user = user};
    while (*end)
        end = &(*end)->next;
    *end = change;
    ev_timer_again(network->owner.loop, &network->deadline);
    return 0;
}

static void on_restart(struct ev_loop *loop, ev_timer *timer, int events) {
    (void)loop, (void)events;
    struct network *network = timer->data;
    char message[512];
    if (network->pid > 0)
        return;
    network->restarts++;
    if (start(network, message, sizeof message) < 0 || add_change(network, NULL, NULL) < 0 ||
        send_config(network) < 0) {
        drop(network);
        if (network->pid == 0)
            schedule_restart(network);
    }
}

static void on_exit_of_egress(struct ev_loop *loop, ev_child *child, int events) {
    (void)events;
    struct network *network = child->data;
    ev_child_stop(loop, child);
    /* What it said last is still in the socket. */
    char bytes[4096];
    ssize_t got;
    while (network->control_fd >= 0 &&
           (got = recv(network->control_fd, bytes, sizeof bytes, MSG_DONTWAIT)) > 0)
        read_answer(network, bytes, (size_t)got);
    bool was_up = network->up;
    network->pid = 0;
    drop(network);
    if (!network->error[0])
        snprintf(network->error, sizeof network->error, "stepbox-egress ended with %s %d",
                 WIFSIGNALED(child->rstatus) ? "signal" : "status",
                 WIFSIGNALED(child->rstatus) ? WTERMSIG(child->rstatus)
                                             : WEXITSTATUS(child->rstatus));
    log_warn("sandbox %s: its network is down: %s", network->owner.id, network->error);
    sandbox_log_add(network->owner.log, LOG_LEVEL_WARN, "network: down: %s", network->error);
    bool starting = network->changes && !was_up && network->restarts == 0;
    char error[sizeof network->error];
    snprintf(error, sizeof error, "%s", network->error);
    if (!starting)
        schedule_restart(network);
    /* The last of them may free the network. */
    while (network->changes && network->changes->next)
        finish_change(network, error);
    finish_change(network, error);
}

struct network *network_new(const network_owner *owner) {
    struct network *network = calloc(1, sizeof *network);
    if (!network)
        return NULL;
    *network = (struct network){
        .owner = *owner, .pidfd = -1, .control_fd = -1, .restart_after = RESTART_FIRST};
    ev_io_init(&network->readable, on_readable, -1, EV_READ);
    ev_timer_init(&network->restart, on_restart, 0.0, 0.0);
    ev_timer_init(&network->deadline, on_deadline, 0.0, ANSWER_DEADLINE);
    network->readable.data = network->restart.data = network->deadline.data = network;
    return network;
}

void network_stop(struct network *network) {
    if (!network)
        return;
    drop(network);
    ev_child_stop(network->owner.loop, &network->exited);
    network->pid = 0; /* the loop reaps it all the same */
    ev_timer_stop(network->owner.loop, &network->restart);
    while (network->changes)
        finish_change(network, "the sandbox has ended");
}

void network_free(struct network *network) {
    if (!network)
        return;
    network_stop(network);
    ev_timer_stop(network->owner.loop, &network->deadline);
    if (network->pidfd >= 0)
        close(network->pidfd);
    network_config_free(&network->config);
    free(network);
}

void network_apply(struct network *network, network_config *config, pid_t init, int pidfd,
                   network_done *done, void *user) {
    /* What a change does not mention is cleared, but not the access as a whole, open or closed. */
    if (!config->internet_set) {
        config->internet_set = network->config.internet_set;
        config->internet = network->config.internet;
    }
    network_config_free(&network->config);
    network->config = *config;
    *config = (network_config){0};
    if (network->pid == 0 && !ev_is_active(&network->restart) &&
        !network_config_opens(&network->config)) {
        done(NULL, user); /* there is no link, and none is wanted */
        return;
    }
    char message[512] = "out of memory";
    network->init = init;
    if (network->pidfd < 0 && pidfd < 0)
        snprintf(message, sizeof message, "the sandbox's first process is not known");
    if (network->pidfd < 0 && pidfd >= 0)
        network->pidfd = fcntl(pidfd, F_DUPFD_CLOEXEC, 0);
    ev_timer_stop(network->owner.loop, &network->restart);
    if (network->pidfd < 0 ||
        (network->pid == 0 && (network_available(message, sizeof message) < 0 ||
                               start(network, message, sizeof message) < 0)) ||
        add_change(network, done, user) < 0)
        done(message, user);
    else if (send_config(network) < 0) {
        snprintf(network->error, sizeof network->error, "stepbox-egress cannot be told");
        drop(network);
    }
}

bool network_is_process(const struct network *network, pid_t pid) {
    return network && network->pid == pid;
}
