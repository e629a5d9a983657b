#include "snapshot_job.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "log.h"
#include "process.h"
#include "snapshot_tar.h"

/* Seconds for tar: so many, and one more for so many bytes that the sandbox may have. It stands
 * still meanwhile, and has chosen how hard its files are to read. */
#define TAR_SECONDS 10.0
#define TAR_BYTES_PER_SECOND (32.0 * 1024 * 1024)

static const char no_room[] =
    "the snapshots of this engine have no room for this one: delete others";

struct snapshot_job {
    struct engine *engine;
    struct sandbox_record of; /* a copy: its id and template count */
    char name[SNAPSHOT_NAME_MAX + 1];
    int archive_fd, errors_fd;
    struct kept_child tar;
    ev_child packed;
    ev_timer deadline;
    bool late;
    snapshot_taken *taken;
    void *user;
};

static void finish(struct snapshot_job *job, struct snapshot *snapshot, int status,
                   const char *message) {
    if (job->archive_fd >= 0)
        close(job->archive_fd);
    if (job->errors_fd >= 0)
        close(job->errors_fd);
    job->taken(snapshot, status, message, job->user);
    free(job);
}

/* The sandbox may have ended, or not. */
static void let_go_on(struct snapshot_job *job, sandbox_settled *settled) {
    struct sandbox *sandbox = sandboxes_find(job->engine->sandboxes, job->of.id);
    if (sandbox)
        sandbox_release_hold(sandbox, settled, job);
    else
        settled(NULL, 0, NULL, job);
}

static void fail(struct snapshot_job *job, int wait_status, bool ended) {
    char said[200], message[300];
    ssize_t length = pread(job->errors_fd, said, sizeof said - 1, 0);
    said[length > 0 ? length : 0] = '\0';
    said[strcspn(said, "\n")] = '\0';
    if (WIFSIGNALED(wait_status) && WTERMSIG(wait_status) == SIGXFSZ) {
        finish(job, NULL, 507, no_room);
        return;
    }
    if (job->late) {
        log_warn("sandbox %s: no snapshot: tar took too long", job->of.id);
        finish(job, NULL, 504, "the snapshot could not be taken in time: its files are too many");
        return;
    }
    if (ended) {
        finish(job, NULL, 404, "the sandbox ended meanwhile");
        return;
    }
    snprintf(message, sizeof message, "the snapshot could not be taken: %s",
             said[0] ? said : "tar was killed");
    log_warn("sandbox %s: %s", job->of.id, message);
    finish(job, NULL, 500, message);
}

/* The sandbox is as it was before: whoever asked may go on with it. */
static void on_released(struct sandbox *sandbox, int status, const char *message, void *user) {
    (void)status, (void)message;
    struct snapshot_job *job = user;
    int wait_status = job->packed.rstatus;
    if (!WIFEXITED(wait_status) || WEXITSTATUS(wait_status) != 0) {
        fail(job, wait_status, !sandbox);
        return;
    }
    int fd = job->archive_fd;
    job->archive_fd = -1;
    struct snapshot *snapshot =
        snapshots_add(job->engine->snapshots, job->name[0] ? job->name : NULL, &job->of, fd);
    if (snapshot)
        finish(job, snapshot, 201, NULL);
    else if (errno == ENOSPC)
        finish(job, NULL, 507, no_room);
    else
        finish(job, NULL, 503, "out of memory");
}

static void on_packed(struct ev_loop *loop, ev_child *child, int events) {
    (void)events;
    struct snapshot_job *job = child->data;
    ev_child_stop(loop, child);
    ev_timer_stop(loop, &job->deadline);
    sandboxes_drop_child(job->engine->sandboxes, &job->tar);
    let_go_on(job, on_released);
}

static void on_deadline(struct ev_loop *loop, ev_timer *timer, int events) {
    (void)loop, (void)events;
    struct snapshot_job *job = timer->data;
    job->late = true;
    kill(job->tar.pid, SIGKILL); /* not reaped yet, so still the same process */
}

static void on_not_begun(struct sandbox *sandbox, int status, const char *message, void *user) {
    (void)sandbox, (void)status, (void)message;
    finish(user, NULL, 503,
           "the snapshot could not be taken: no processes or descriptors are left");
}

/* It stands still. */
static void on_held(struct sandbox *sandbox, int status, const char *message, void *user) {
    struct snapshot_job *job = user;
    if (status != 0) {
        finish(job, NULL, status, message);
        return;
    }
    job->archive_fd = snapshot_open_file();
    job->errors_fd = memfd_create("stepbox-errors", MFD_CLOEXEC);
    int pidfd = sandbox_open_bwrap(sandbox);
    pid_t pid = -1;
    if (job->archive_fd >= 0 && job->errors_fd >= 0 && pidfd >= 0)
        pid = snapshot_tar_pack(pidfd, sandbox_ids_of(sandbox), job->archive_fd,
                                snapshots_room(job->engine->snapshots), job->errors_fd);
    if (pid < 0)
        log_warn("sandbox %s: no snapshot: %s", job->of.id, strerror(errno));
    if (pidfd >= 0)
        close(pidfd);
    if (pid < 0) {
        let_go_on(job, on_not_begun);
        return;
    }
    job->tar.pid = pid;
    sandboxes_keep_child(job->engine->sandboxes, &job->tar);
    ev_child_init(&job->packed, on_packed, pid, 0);
    job->packed.data = job;
    ev_child_start(job->engine->loop, &job->packed);
    int64_t disk = sandbox_record_of(sandbox)->limits.disk;
    ev_timer_init(&job->deadline, on_deadline, TAR_SECONDS + (double)disk / TAR_BYTES_PER_SECOND,
                  0.0);
    job->deadline.data = job;
    ev_timer_start(job->engine->loop, &job->deadline);
}

int snapshot_take(struct engine *engine, struct sandbox *sandbox, const char *name,
                  snapshot_taken *taken, void *user, char *message, size_t room) {
    struct snapshot_job *job = calloc(1, sizeof *job);
    if (!job) {
        snprintf(message, room, "out of memory");
        return 503;
    }
    job->engine = engine;
    job->archive_fd = job->errors_fd = -1;
    job->taken = taken;
    job->user = user;
    snprintf(job->name, sizeof job->name, "%s", name ? name : "");
    strcpy(job->of.id, sandbox_record_of(sandbox)->id);
    job->of.alias = sandbox_record_of(sandbox)->alias;
    int status = sandbox_hold(sandbox, on_held, job, message, room);
    if (status != 0)
        free(job);
    return status;
}
