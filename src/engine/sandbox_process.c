/* sandbox_process.c - follows bubblewrap and PID 1 of a sandbox: what they say, and when they end.
 */
#include "sandbox_internal.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bwrap_spawn.h"
#include "log.h"
#include "process.h"

static void close_watched(struct ev_loop *loop, ev_io *io, int *fd) {
    ev_io_stop(loop, io);
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

static void on_init_exit(struct ev_loop *loop, ev_io *io, int events) {
    (void)events;
    struct sandbox *sandbox = io->data;
    close_watched(loop, io, &sandbox->process.init_fd);
    sandbox_process_changed(sandbox);
}

/* bwrap has told PID 1's number on the host. It is its child, and bwrap cannot vanish before we
 * have reaped it: so if the parent of that process is bwrap, the descriptor is of the right
 * process. */
static void adopt_init(struct sandbox *sandbox, pid_t pid) {
    struct sandbox_process *process = &sandbox->process;
    int fd = process->init_fd < 0 ? process_open(pid) : -1;
    if (fd < 0)
        return;
    if (process_parent(pid) != process->bwrap_pid) {
        close(fd);
        return;
    }
    process->init_fd = fd;
    process->init_pid = pid;
    ev_io_set(&process->init_exit, fd, EV_READ);
    ev_io_start(sandbox_loop(sandbox), &process->init_exit);
    if (sandbox->state == SANDBOX_ENDING)
        process_kill(fd);
}

static void read_status_line(struct sandbox *sandbox, const char *line, size_t length) {
    json_t *status = json_loadb(line, length, 0, NULL);
    json_int_t pid = 0;
    if (status && json_unpack(status, "{s:I}", "child-pid", &pid) == 0 && pid > 0)
        adopt_init(sandbox, (pid_t)pid);
    json_decref(status);
}

/* Reads what bwrap has said so far. Returns false at the end. */
static bool read_status(struct sandbox *sandbox) {
    struct sandbox_process *process = &sandbox->process;
    for (;;) {
        size_t room = sizeof process->status - process->status_used;
        ssize_t got = read(process->status_fd, process->status + process->status_used, room);
        if (got < 0)
            return errno == EAGAIN || errno == EINTR;
        if (got == 0)
            return false;
        process->status_used += (size_t)got;
        char *newline;
        while ((newline = memchr(process->status, '\n', process->status_used))) {
            size_t length = (size_t)(newline - process->status) + 1;
            read_status_line(sandbox, process->status, length);
            process->status_used -= length;
            memmove(process->status, newline + 1, process->status_used);
        }
        if (process->status_used == sizeof process->status)
            return false; /* no line of bwrap's is that long */
    }
}

static void on_status(struct ev_loop *loop, ev_io *io, int events) {
    (void)events;
    struct sandbox *sandbox = io->data;
    if (!read_status(sandbox))
        close_watched(loop, io, &sandbox->process.status_fd);
}

/* Keeps the first bytes, for the message when the start fails; what comes later is the agent's and
 * goes to the sandbox's log. Returns false at the end. */
static bool read_errors(struct sandbox *sandbox) {
    struct sandbox_process *process = &sandbox->process;
    char text[512];
    ssize_t got = read(process->stderr_fd, text, sizeof text);
    if (got < 0)
        return errno == EAGAIN || errno == EINTR;
    if (got == 0)
        return false;
    size_t room = sizeof process->errors - 1 - process->errors_used;
    size_t kept = (size_t)got < room ? (size_t)got : room;
    memcpy(process->errors + process->errors_used, text, kept);
    process->errors_used += kept;
    sandbox_log_said(&sandbox->log, text, (size_t)got);
    log_debug("sandbox %s says: %.*s", sandbox->record.id, (int)got, text);
    return true;
}

static void on_errors(struct ev_loop *loop, ev_io *io, int events) {
    (void)events;
    struct sandbox *sandbox = io->data;
    if (!read_errors(sandbox))
        close_watched(loop, io, &sandbox->process.stderr_fd);
}

static void on_bwrap_exit(struct ev_loop *loop, ev_child *child, int events) {
    (void)events;
    struct sandbox *sandbox = child->data;
    struct sandbox_process *process = &sandbox->process;
    ev_child_stop(loop, child);
    process->bwrap_ended = true;
    log_debug("sandbox %s: bwrap ended with %s %d", sandbox->record.id,
              WIFSIGNALED(child->rstatus) ? "signal" : "status",
              WIFSIGNALED(child->rstatus) ? WTERMSIG(child->rstatus) : WEXITSTATUS(child->rstatus));
    /* What it said at the end may not have been read yet. The size of a pipe bounds how often this
     * goes round. */
    for (int i = 0;
         i < 128 && process->stderr_fd >= 0 && process->errors_used < sizeof process->errors - 1;
         i++) {
        size_t before = process->errors_used;
        if (!read_errors(sandbox) || process->errors_used == before)
            break;
    }
    if (process->init_fd < 0)
        sandboxes_kill_orphans(sandbox->set);
    sandbox_process_changed(sandbox);
}

int sandbox_process_start(struct sandbox *sandbox, int snapshot_fd, char *message, size_t room) {
    bwrap_process spawned;
    bwrap_spec spec = {.id = sandbox->record.id,
                       .template_id = sandbox->record.template_id,
                       .payload = sandbox->set->config.payload,
                       .limits = &sandbox->record.limits,
                       .bwrap = sandbox->set->config.bwrap,
                       .filter_fd = syscall_filter_fd(sandbox->set->config.filter),
                       .snapshot_fd = snapshot_fd,
                       .ids = sandbox->ids,
                       .isolation = &sandbox->set->isolation};
    spec.join_count = sandbox_cgroup_open(sandbox, spec.join);
    if (spec.join_count < 0) {
        snprintf(message, room, "the sandbox's control group cannot be made: %s", strerror(errno));
        return -1;
    }
    int result = bwrap_spawn(&spawned, &spec, message, room);
    for (int i = 0; i < spec.join_count; i++)
        close(spec.join[i]);
    if (result < 0)
        return -1;
    struct sandbox_process *process = &sandbox->process;
    struct ev_loop *loop = sandbox_loop(sandbox);
    *process = (struct sandbox_process){.bwrap_pid = spawned.pid,
                                        .init_fd = -1,
                                        .status_fd = spawned.status_fd,
                                        .stderr_fd = spawned.stderr_fd};
    ev_child_init(&process->bwrap_exit, on_bwrap_exit, spawned.pid, 0);
    ev_io_init(&process->init_exit, on_init_exit, -1, EV_READ);
    ev_io_init(&process->status_readable, on_status, spawned.status_fd, EV_READ);
    ev_io_init(&process->stderr_readable, on_errors, spawned.stderr_fd, EV_READ);
    process->bwrap_exit.data = process->init_exit.data = sandbox;
    process->status_readable.data = process->stderr_readable.data = sandbox;
    ev_child_start(loop, &process->bwrap_exit);
    ev_io_start(loop, &process->status_readable);
    ev_io_start(loop, &process->stderr_readable);
    sandbox_link_open(sandbox, spawned.control_fd);
    if (write(spawned.go_fd, "", 1) != 1)
        log_debug("sandbox %s ended before it began", sandbox->record.id);
    close(spawned.go_fd);
    return 0;
}

void sandbox_process_read_status(struct sandbox *sandbox) {
    if (sandbox->process.init_fd < 0 && sandbox->process.status_fd >= 0)
        read_status(sandbox);
}

int sandbox_open_bwrap(const struct sandbox *sandbox) {
    return process_open(sandbox->process.bwrap_pid);
}

const struct sandbox_ids *sandbox_ids_of(const struct sandbox *sandbox) {
    return &sandbox->ids;
}

void sandbox_process_kill(struct sandbox *sandbox) {
    struct sandbox_process *process = &sandbox->process;
    if (sandbox->cgroup)
        cgroup_kill(sandbox->cgroup);
    if (process->init_fd >= 0)
        process_kill(process->init_fd);
    if (!process->bwrap_ended)
        kill(process->bwrap_pid, SIGKILL); /* not reaped yet, so still the same process */
}

bool sandbox_process_gone(const struct sandbox *sandbox) {
    return sandbox->process.bwrap_ended && sandbox->process.init_fd < 0;
}

void sandbox_process_close(struct sandbox *sandbox) {
    struct sandbox_process *process = &sandbox->process;
    struct ev_loop *loop = sandbox_loop(sandbox);
    ev_child_stop(loop, &process->bwrap_exit);
    close_watched(loop, &process->init_exit, &process->init_fd);
    close_watched(loop, &process->status_readable, &process->status_fd);
    close_watched(loop, &process->stderr_readable, &process->stderr_fd);
}
