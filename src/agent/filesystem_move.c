/*
 * filesystem_move.c - renames a file or directory.
 *
 * Across file systems nothing can be renamed: a process of mv(1) copies and removes then, as that
 * takes its time.
 */
#include "filesystem_service.h"

#include "connect_messages.h"
#include "connect_unary.h"
#include "entry_info.h"
#include "environment.h"
#include "filesystem_request.h"
#include "log.h"
#include "path.h"
#include "spawn.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define WHY_MAX 4096

struct move {
    struct ev_loop *loop;
    http_request *request; /* NULL when the client has left */
    pid_t pid;
    struct ev_child child;
    struct ev_io pipe; /* what mv says */
    agent_user user;
    char *to;
    char why[WHY_MAX + 1];
    size_t why_length;
};

static void reply_entry(http_request *request, const char *path) {
    json_t *entry = entry_info(path);
    if (entry)
        connect_unary_reply(request, json_pack("{s:o}", "entry", entry));
    else
        filesystem_reply_error(request, "cannot get file info of", path, errno);
}

static void free_move(struct move *move) {
    ev_child_stop(move->loop, &move->child);
    ev_io_stop(move->loop, &move->pipe);
    close(move->pipe.fd);
    free(move->to);
    free(move);
}

/* The error that the last line of mv's words ends with. */
static int find_error(const char *why) {
    static const int known[] = {ENOSPC, EDQUOT, EACCES, EPERM, EROFS, ENOENT, ENOTDIR, EISDIR};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (strstr(why, strerror(known[i])))
            return known[i];
    }
    return EIO;
}

static void read_pipe(struct move *move) {
    char bytes[1024];
    ssize_t got;
    while ((got = read(move->pipe.fd, bytes, sizeof bytes)) > 0) {
        size_t room = WHY_MAX - move->why_length;
        size_t part = (size_t)got < room ? (size_t)got : room;
        memcpy(move->why + move->why_length, bytes, part);
        move->why_length += part;
    }
    if (got == 0 || (errno != EAGAIN && errno != EINTR))
        ev_io_stop(move->loop, &move->pipe);
}

static void on_pipe(struct ev_loop *loop, struct ev_io *io, int events) {
    (void)loop, (void)events;
    read_pipe(io->data);
}

static void on_exit_of_child(struct ev_loop *loop, struct ev_child *child, int events) {
    (void)loop, (void)events;
    struct move *move = child->data;
    read_pipe(move);
    privileges_act_as(move->user);
    if (move->request && WIFEXITED(child->rstatus) && WEXITSTATUS(child->rstatus) == 0)
        reply_entry(move->request, move->to);
    else if (move->request)
        filesystem_reply_error(move->request, "error renaming to", move->to, find_error(move->why));
    free_move(move);
    privileges_act_as(AGENT_USER);
}

static void on_gone(void *user) {
    struct move *move = user;
    http_reply(move->request, 204, NULL, NULL, 0); /* lets it go */
    move->request = NULL;
    spawn_kill_all(move->pid);
}

/* 0 when a process moves it now; -1: replied. */
static int start_process(struct agent *agent, http_request *request, const char *from,
                         const char *to) {
    /* Of the system's programs: root must run none of user's. */
    json_t *extra = json_pack("{s:s, s:s}", "LC_ALL", "C", "PATH", "/usr/bin:/bin");
    char **envp = environment_make(NULL, extra);
    char *const argv[] = {"mv", "-fT", "--", (char *)from, (char *)to, NULL};
    struct move *move = calloc(1, sizeof *move);
    spawn_stage stage;
    int ends[2] = {-1, -1};
    if (envp && move && (move->to = strdup(to)) && spawn_pipe(ends) == 0) {
        move->pid = spawn_program(&(spawn_options){.argv = argv,
                                                   .envp = envp,
                                                   .cwd = "/",
                                                   .in = -1,
                                                   .out = ends[1],
                                                   .err = ends[1],
                                                   .channel = -1,
                                                   .user = privileges_acting()},
                                  &stage);
        close(ends[1]);
    }
    free(envp);
    json_decref(extra);
    if (!move || move->pid <= 0) {
        if (ends[0] >= 0)
            close(ends[0]);
        if (move)
            free(move->to);
        free(move);
        connect_reply_error(request, "resource_exhausted", "cannot start mv to move the file");
        return -1;
    }
    move->loop = agent->loop;
    move->user = privileges_acting();
    move->request = request;
    ev_child_init(&move->child, on_exit_of_child, move->pid, 0);
    ev_io_init(&move->pipe, on_pipe, ends[0], EV_READ);
    move->child.data = move->pipe.data = move;
    ev_child_start(move->loop, &move->child);
    ev_io_start(move->loop, &move->pipe);
    http_request_on_gone(request, on_gone, move);
    return 0;
}

/* Whether a directory is in the way, another one than what is moved. */
static bool is_in_the_way(const char *from, const char *to) {
    struct stat source, target;
    return lstat(from, &source) == 0 && lstat(to, &target) == 0 && S_ISDIR(target.st_mode) &&
           (source.st_dev != target.st_dev || source.st_ino != target.st_ino);
}

static void move_path(struct agent *agent, http_request *request, const char *from,
                      const char *to) {
    struct stat st;
    if (lstat(from, &st)) {
        filesystem_reply_error(
            request, errno == ENOENT ? "source file not found:" : "error renaming", from, errno);
    } else if (path_make_parents(to)) {
        filesystem_reply_error(request, "cannot make the directory of", to, errno);
    } else if (is_in_the_way(from, to)) {
        filesystem_reply_error(request, "error renaming to the directory", to, EEXIST);
    } else if (rename(from, to) == 0) {
        reply_entry(request, to);
    } else if (errno == EXDEV) {
        start_process(agent, request, from, to);
    } else {
        int error = errno;
        filesystem_reply_error(
            request, error == ENOENT ? "source file not found:" : "error renaming", from, error);
    }
}

void filesystem_move(struct agent *agent, http_request *request) {
    json_t *message = filesystem_read(request);
    if (!message)
        return;
    char *from = filesystem_path(agent, request, message, "source", connect_reply_error);
    char *to =
        from ? filesystem_path(agent, request, message, "destination", connect_reply_error) : NULL;
    if (to)
        move_path(agent, request, from, to);
    free(from);
    free(to);
    json_decref(message);
}
