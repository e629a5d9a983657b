/* zygote.c - one zygote: its process, what it says, and its end. */
#include "zygote_internal.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "descriptors.h"
#include "log.h"

/* Seconds that one may take to become ready. */
#define START_DEADLINE 60.0

static void close_fd(struct zygote *zygote, ev_io *io, int *fd) {
    ev_io_stop(zygote->set->config.loop, io);
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

void zygote_end(struct zygote *zygote) {
    if (zygote->ending)
        return;
    zygote->ending = true;
    zygote->ready = false;
    kill(zygote->process.pid, SIGKILL); /* not reaped yet, so still the same process */
    close_fd(zygote, &zygote->readable, &zygote->process.jobs_fd);
}

void zygote_release(struct zygote *zygote) {
    struct zygote **at = &zygote->set->first;
    struct ev_loop *loop = zygote->set->config.loop;
    while (*at != zygote)
        at = &(*at)->next;
    *at = zygote->next;
    ev_child_stop(loop, &zygote->exit);
    ev_timer_stop(loop, &zygote->deadline);
    close_fd(zygote, &zygote->readable, &zygote->process.jobs_fd);
    close_fd(zygote, &zygote->stderr_readable, &zygote->process.stderr_fd);
    free(zygote);
}

static void read_said(struct zygote *zygote) {
    char text[sizeof zygote->said];
    ssize_t got;
    while ((got = read(zygote->process.stderr_fd, text, sizeof text - 1)) > 0) {
        text[got] = '\0';
        strcpy(zygote->said, text);
        zygote->said[strcspn(zygote->said, "\n")] = '\0';
    }
    if (got == 0 || (errno != EAGAIN && errno != EINTR))
        close_fd(zygote, &zygote->stderr_readable, &zygote->process.stderr_fd);
}

static void on_stderr(struct ev_loop *loop, ev_io *io, int events) {
    (void)loop, (void)events;
    read_said(io->data);
}

static void on_exit_of(struct ev_loop *loop, ev_child *child, int events) {
    (void)loop, (void)events;
    struct zygote *zygote = child->data;
    if (zygote->process.stderr_fd >= 0)
        read_said(zygote);
    if (!zygote->ending)
        zygotes_lost(zygote->set, zygote, child->rstatus);
    zygote_release(zygote);
}

static void on_deadline(struct ev_loop *loop, ev_timer *timer, int events) {
    (void)loop, (void)events;
    struct zygote *zygote = timer->data;
    snprintf(zygote->said, sizeof zygote->said, "it was not ready in time");
    kill(zygote->process.pid, SIGKILL);
}

/* It says one byte when it is ready; anything else is its end. */
static void on_readable(struct ev_loop *loop, ev_io *io, int events) {
    (void)events;
    struct zygote *zygote = io->data;
    char byte;
    ssize_t got = recv(io->fd, &byte, 1, MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (got == 1 && byte == ZYGOTE_READY && !zygote->ready) {
        ev_timer_stop(loop, &zygote->deadline);
        zygote->ready = true;
        zygote->set->failures = 0;
        zygote_to_foreground(&zygote->process);
        log_debug("a zygote is ready");
        return;
    }
    ev_io_stop(loop, io);
    kill(zygote->process.pid, SIGKILL); /* its end is told by on_exit_of() */
}

void zygote_add(struct zygotes *set, bool background) {
    struct zygote *zygote = calloc(1, sizeof *zygote);
    set->last_number++;
    if (!zygote || zygote_start(&zygote->process, &set->files, set->config.uid, set->config.gid,
                                background) < 0) {
        log_warn("a zygote cannot be started: %s", strerror(errno));
        free(zygote);
        return;
    }
    struct ev_loop *loop = set->config.loop;
    zygote->set = set;
    zygote->number = set->last_number;
    zygote->next = set->first;
    set->first = zygote;
    ev_child_init(&zygote->exit, on_exit_of, zygote->process.pid, 0);
    ev_io_init(&zygote->readable, on_readable, zygote->process.jobs_fd, EV_READ);
    ev_io_init(&zygote->stderr_readable, on_stderr, zygote->process.stderr_fd, EV_READ);
    ev_timer_init(&zygote->deadline, on_deadline, START_DEADLINE, 0.0);
    zygote->exit.data = zygote->readable.data = zygote->stderr_readable.data = zygote;
    zygote->deadline.data = zygote;
    ev_child_start(loop, &zygote->exit);
    ev_io_start(loop, &zygote->readable);
    ev_io_start(loop, &zygote->stderr_readable);
    ev_timer_start(loop, &zygote->deadline);
}

int zygote_send(struct zygote *zygote, const struct zygote_job *job, const int fds[JOB_FDS_MAX]) {
    ssize_t sent = descriptors_send(zygote->process.jobs_fd, job, sizeof *job, fds,
                                    JOB_FDS + job->groups, MSG_DONTWAIT);
    return sent == sizeof *job ? 0 : -1;
}
