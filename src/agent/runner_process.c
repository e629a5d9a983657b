/* runner_process.c - see runner_process.h */
#include "runner_process.h"

#include "environment.h"
#include "runner_source.h"
#include "spawn.h"
#include "spawn_limits.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

struct runner_request {
    runner_options options; /* copies of what may go */
    char *cwd;
    json_t *envs;
    json_t *begin;
    int number;
    runner_told *told;
    void *user;
};

/* The parent's ends are kept; the child's are closed behind. */
static int open_descriptors(int channel[2], int out[2], int err[2]) {
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, channel))
        return -1;
    if (spawn_pipe(out) == 0) {
        if (spawn_pipe(err) == 0)
            return 0;
        close(out[0]), close(out[1]);
    }
    int saved = errno;
    close(channel[0]), close(channel[1]);
    errno = saved;
    return -1;
}

static pid_t start_process(const runner_options *options, int channel, int out, int err) {
    language_command command;
    spawn_stage stage;
    char **envp = environment_make(options->envs, NULL);
    pid_t pid = -1;
    errno = ENOMEM;
    if (envp && language_start_command(options->language, options->runners, SPAWN_CHANNEL_FD,
                                       spawn_limits_runner_data(), &command) == 0)
        pid = spawn_program(&(spawn_options){.argv = command.argv,
                                             .envp = envp,
                                             .cwd = options->cwd,
                                             .other_cwd = options->home,
                                             .in = -1,
                                             .out = out,
                                             .err = err,
                                             .channel = channel},
                            &stage);
    int saved = errno;
    free(envp);
    errno = saved;
    return pid;
}

int runner_process_start(const runner_options *options, runner_ends *ends) {
    int channel[2], out[2], err[2];
    if (open_descriptors(channel, out, err))
        return -1;
    pid_t pid = start_process(options, channel[1], out[1], err[1]);
    int saved = errno;
    close(channel[1]), close(out[1]), close(err[1]);
    *ends = (runner_ends){.pid = pid, .channel = channel[0], .out = out[0], .err = err[0]};
    if (pid < 0)
        close(channel[0]), close(out[0]), close(err[0]);
    errno = saved;
    return pid < 0 ? -1 : 0;
}

static json_t *variables(char *const *environment) {
    json_t *object = json_object();
    for (; object && *environment; environment++) {
        size_t length = strcspn(*environment, "=");
        char *name = strndup(*environment, length);
        /* One that is not UTF-8 cannot travel this way. */
        if (!name || !(*environment)[length] ||
            json_object_set_new(object, name, json_string(*environment + length + 1))) {
            json_decref(object);
            object = NULL;
        }
        free(name);
    }
    return object;
}

/* What a forked runner is told: all that a program finds when it is started. NULL when it would not
 * be the same. */
static json_t *make_begin(const runner_options *options) {
    char **envp = environment_make(options->envs, NULL);
    json_t *env = envp && runner_source_suits(envp) ? variables(envp) : NULL;
    free(envp);
    return env ? json_pack("{s:s, s:o, s:s, s:s, s:i}", "type", "begin", "env", env, "cwd",
                           options->cwd, "home", options->home, "files",
                           spawn_inherited_file_limit())
               : NULL;
}

static void request_free(struct runner_request *request) {
    json_decref(request->begin);
    json_decref(request->envs);
    free(request->cwd);
    free(request);
}

static runner_ends ends_of(const int fds[RUNNER_FDS], json_t *begin) {
    return (runner_ends){.channel = fds[RUNNER_FD_CHANNEL],
                         .out = fds[RUNNER_FD_OUT],
                         .err = fds[RUNNER_FD_ERR],
                         .begin = begin};
}

static void on_answer(const int fds[RUNNER_FDS], void *user) {
    struct runner_request *request = user;
    runner_ends ends;
    int result = 0, error = 0;
    if (fds) {
        ends = ends_of(fds, json_incref(request->begin));
    } else {
        result = runner_process_start(&request->options, &ends);
        error = errno;
    }
    runner_told *told = request->told;
    void *told_user = request->user;
    request_free(request);
    errno = error;
    told(result == 0 ? &ends : NULL, told_user);
}

bool runner_process_take_spare(const runner_options *options, runner_ends *ends) {
    int fds[RUNNER_FDS];
    json_t *begin = runner_source_has(options->language->name) ? make_begin(options) : NULL;
    if (begin && runner_source_take_spare(options->source, fds)) {
        *ends = ends_of(fds, begin);
        return true;
    }
    json_decref(begin);
    return false;
}

struct runner_request *runner_request_new(const runner_options *options, runner_told *told,
                                          void *user) {
    bool possible = options->source && runner_source_has(options->language->name);
    struct runner_request *request = possible ? calloc(1, sizeof *request) : NULL;
    if (!request)
        return NULL;
    request->options = *options;
    request->options.cwd = request->cwd = strdup(options->cwd);
    request->options.envs = request->envs = json_copy((json_t *)options->envs);
    request->told = told;
    request->user = user;
    request->begin = request->cwd && request->envs ? make_begin(options) : NULL;
    request->number = request->begin ? runner_source_ask(options->source, on_answer, request) : -1;
    if (request->number >= 0)
        return request;
    request_free(request);
    return NULL;
}

void runner_request_cancel(struct runner_request *request) {
    runner_source_forget(request->options.source, request->number);
    request_free(request);
}

pid_t runner_process_hello(int channel) {
    char byte = 0;
    struct iovec part = {&byte, 1};
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(sizeof(struct ucred))];
    } control;
    struct msghdr header = {.msg_iov = &part,
                            .msg_iovlen = 1,
                            .msg_control = control.bytes,
                            .msg_controllen = sizeof control.bytes};
    ssize_t got = recvmsg(channel, &header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return 0;
    struct cmsghdr *from = got == 1 ? CMSG_FIRSTHDR(&header) : NULL;
    struct ucred who;
    if (!from || from->cmsg_level != SOL_SOCKET || from->cmsg_type != SCM_CREDENTIALS ||
        byte != RUNNER_HELLO)
        return -1;
    memcpy(&who, CMSG_DATA(from), sizeof who);
    int off = 0;
    setsockopt(channel, SOL_SOCKET, SO_PASSCRED, &off, sizeof off);
    return who.pid > 1 ? who.pid : -1;
}
