#include "zygote.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "descriptors.h"
#include "log.h"
#include "zygote_start.h"

/* At most, and how many of them no sandbox has had. One takes some 25 MB and 0.3 s to start. */
#define ZYGOTES_MAX 6
#define FRESH_WANTED 2
/* Sandboxes that may have the same one, where that is allowed at all. */
#define SHARED_BY_MAX 16
/* Seconds between two starts, the first ones excepted: sandboxes that come in a rush need the
 * processor themselves. */
#define START_INTERVAL 1.0
/* The same after one that did not become ready; when so many have given up by themselves, one after
 * the other, there is no other try. */
#define RETRY_INTERVAL 3.0
#define FAILURES_MAX 3
/* Seconds that one may take to become ready. */
#define START_DEADLINE 60.0
/* Seconds after which one that is not used any more ends, while there are fresh ones. */
#define IDLE_SECONDS 20.0
/* Seconds after which its last job is surely done. */
#define RESTED_SECONDS 2.0

struct zygote {
    struct zygotes *set;
    struct zygote *next;
    uint64_t number;
    zygote_process process;
    bool ready;
    bool ending;
    size_t sandboxes; /* that have it */
    size_t had;       /* that have ever had it */
    ev_tstamp last_use;
    char said[256]; /* the last on its stderr, for the log */
    ev_child exit;
    ev_io readable, stderr_readable;
    ev_timer deadline;
};

struct zygotes {
    zygotes_config config;
    struct zygote_files files;
    struct zygote *first;
    uint64_t last_number;
    int failures;   /* in a row */
    bool expected;  /* sandboxes are made here */
    char why[300];  /* there are none; "" when there could be */
    ev_timer pause; /* until the next start */
    ev_timer sweep;
};

static void start_next(struct zygotes *set);

static void close_fd(struct zygote *zygote, ev_io *io, int *fd) {
    ev_io_stop(zygote->set->config.loop, io);
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

/* Without its jobs a zygote ends by itself; one that does not is no zygote any more. */
static void end(struct zygote *zygote) {
    if (zygote->ending)
        return;
    zygote->ending = true;
    zygote->ready = false;
    kill(zygote->process.pid, SIGKILL); /* not reaped yet, so still the same process */
    close_fd(zygote, &zygote->readable, &zygote->process.jobs_fd);
}

static void release(struct zygote *zygote) {
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
    (void)events;
    struct zygote *zygote = child->data;
    struct zygotes *set = zygote->set;
    bool wanted = !zygote->ending, was_ready = zygote->ready;
    if (zygote->process.stderr_fd >= 0)
        read_said(zygote);
    if (wanted) {
        log_warn("a zygote ended with status %#x: %s", (unsigned)child->rstatus, zygote->said);
        bool gave_up = !was_ready && WIFEXITED(child->rstatus);
        bool never = gave_up && WEXITSTATUS(child->rstatus) == ZYGOTE_NEVER;
        if (never || (gave_up && ++set->failures >= FAILURES_MAX))
            snprintf(set->why, sizeof set->why, "%s",
                     zygote->said[0] ? zygote->said : "its process ends at once");
        ev_timer_stop(loop, &set->pause);
        ev_timer_set(&set->pause, was_ready ? START_INTERVAL : RETRY_INTERVAL, 0.0);
        ev_timer_start(loop, &set->pause);
    }
    release(zygote);
    if (wanted && set->why[0])
        log_warn("runners are not forked any more: %s", set->why);
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

static size_t count(const struct zygotes *set, bool fresh) {
    size_t found = 0;
    for (const struct zygote *zygote = set->first; zygote; zygote = zygote->next)
        found += !zygote->ending && (!fresh || zygote->had == 0);
    return found;
}

/* Whether another sandbox may have it. */
static bool is_free(const struct zygote *zygote) {
    return zygote->ready && zygote->had < (zygote->set->config.never_share ? 1 : SHARED_BY_MAX);
}

/* Whether the first is the better one for another sandbox. */
static bool is_better(const struct zygote *zygote, const struct zygote *than) {
    return !than || zygote->had < than->had ||
           (zygote->had == than->had && zygote->number < than->number);
}

static struct zygote *choose(struct zygotes *set) {
    struct zygote *best = NULL;
    for (struct zygote *zygote = set->first; zygote; zygote = zygote->next)
        if (is_free(zygote) && is_better(zygote, best))
            best = zygote;
    return best;
}

static void start_one(struct zygotes *set) {
    struct zygote *zygote = calloc(1, sizeof *zygote);
    set->last_number++;
    if (!zygote || zygote_start(&zygote->process, &set->files, set->config.uid, set->config.gid,
                                choose(set) != NULL) < 0) {
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

/* One after the other, with pauses. */
static void start_next(struct zygotes *set) {
    if (set->why[0] || !set->expected || ev_is_active(&set->pause) ||
        count(set, false) >= ZYGOTES_MAX || count(set, true) >= FRESH_WANTED)
        return;
    start_one(set);
    if (set->last_number < FRESH_WANTED) {
        start_next(set);
        return;
    }
    ev_timer_set(&set->pause, START_INTERVAL, 0.0);
    ev_timer_start(set->config.loop, &set->pause);
}

static void on_pause_over(struct ev_loop *loop, ev_timer *timer, int events) {
    (void)loop, (void)events;
    start_next(timer->data);
}

/* When there are as many as may be, and none is fresh, the one that has been idle for longest makes
 * room: its sandbox gets another should it need one. */
static void make_room(struct zygotes *set, ev_tstamp now) {
    struct zygote *oldest = NULL;
    if (count(set, true) > 0 || count(set, false) < ZYGOTES_MAX)
        return;
    for (struct zygote *zygote = set->first; zygote; zygote = zygote->next)
        if (zygote->ready && now - zygote->last_use > RESTED_SECONDS &&
            (!oldest || zygote->last_use < oldest->last_use))
            oldest = zygote;
    if (oldest)
        end(oldest);
}

/* Ends what has served: those without a sandbox, and those that are idle, whose sandbox gets
 * another should it need one. */
static void on_sweep(struct ev_loop *loop, ev_timer *timer, int events) {
    (void)events;
    struct zygotes *set = timer->data;
    bool spare = false;
    for (struct zygote *zygote = set->first; zygote; zygote = zygote->next)
        spare = spare || (zygote->ready && zygote->had == 0);
    for (struct zygote *zygote = set->first; zygote && spare; zygote = zygote->next)
        if (zygote->ready && zygote->had > 0 &&
            (zygote->sandboxes == 0 || ev_now(loop) - zygote->last_use > IDLE_SECONDS))
            end(zygote);
    make_room(set, ev_now(loop));
    start_next(set);
}

struct zygotes *zygotes_new(const zygotes_config *config) {
    struct zygotes *set = calloc(1, sizeof *set);
    if (!set)
        return NULL;
    set->config = *config;
    set->files = (struct zygote_files){-1, -1, -1};
    ev_timer_init(&set->pause, on_pause_over, 0.0, 0.0);
    ev_timer_init(&set->sweep, on_sweep, START_INTERVAL, START_INTERVAL);
    set->pause.data = set->sweep.data = set;
    if (config->off)
        snprintf(set->why, sizeof set->why, "it is switched off");
    else if (access(ZYGOTE_PYTHON, X_OK) < 0)
        snprintf(set->why, sizeof set->why, ZYGOTE_PYTHON ": %s", strerror(errno));
    else if (zygote_files_load(&set->files, config->payload, set->why, sizeof set->why) == 0)
        set->why[0] = '\0';
    return set;
}

void zygotes_free(struct zygotes *set) {
    if (!set)
        return;
    for (struct zygote *zygote = set->first, *next; zygote; zygote = next) {
        next = zygote->next;
        end(zygote);
        waitpid(zygote->process.pid, NULL, 0);
        release(zygote);
    }
    ev_timer_stop(set->config.loop, &set->pause);
    ev_timer_stop(set->config.loop, &set->sweep);
    zygote_files_close(&set->files);
    free(set);
}

void zygotes_expect(struct zygotes *set) {
    if (set->why[0])
        return;
    set->expected = true;
    if (!ev_is_active(&set->sweep))
        ev_timer_start(set->config.loop, &set->sweep);
    start_next(set);
}

static struct zygote *find(struct zygotes *set, uint64_t number) {
    struct zygote *zygote = set->first;
    while (zygote && zygote->number != number)
        zygote = zygote->next;
    return zygote;
}

struct zygote *zygotes_take(struct zygotes *set, uint64_t *number) {
    struct zygote *zygote = *number ? find(set, *number) : NULL;
    if (!zygote || !zygote->ready) {
        zygote = choose(set);
        if (zygote) {
            zygotes_leave(set, *number);
            zygote->sandboxes++;
            zygote->had++;
        }
    }
    if (zygote) {
        *number = zygote->number;
        zygote->last_use = ev_now(set->config.loop);
    }
    start_next(set);
    return zygote;
}

bool zygotes_are_coming(const struct zygotes *set) {
    for (const struct zygote *zygote = set->first; zygote; zygote = zygote->next)
        if (!zygote->ready && !zygote->ending)
            return true;
    return false;
}

void zygotes_leave(struct zygotes *set, uint64_t number) {
    struct zygote *zygote = number ? find(set, number) : NULL;
    if (zygote && zygote->sandboxes > 0)
        zygote->sandboxes--;
}

int zygote_send(struct zygote *zygote, const struct zygote_job *job, const int fds[JOB_FDS_MAX]) {
    ssize_t sent = descriptors_send(zygote->process.jobs_fd, job, sizeof *job, fds,
                                    JOB_FDS + job->groups, MSG_DONTWAIT);
    return sent == sizeof *job ? 0 : -1;
}

bool zygotes_has(const struct zygotes *set, pid_t pid) {
    for (const struct zygote *zygote = set->first; zygote; zygote = zygote->next)
        if (zygote->process.pid == pid)
            return true;
    return false;
}

json_t *zygotes_describe(const struct zygotes *set) {
    size_t ready = 0, fresh = 0;
    for (const struct zygote *zygote = set->first; zygote; zygote = zygote->next) {
        ready += zygote->ready;
        fresh += zygote->ready && zygote->had == 0;
    }
    json_t *object = json_pack("{s:I, s:I, s:I}", "zygotes", (json_int_t)count(set, false), "ready",
                               (json_int_t)ready, "fresh", (json_int_t)fresh);
    if (object && set->why[0])
        json_object_set_new(object, "why", json_string(set->why));
    return object;
}
