/* process.c - see process.h */
#include "process.h"

#include "environment.h"
#include "process_stream.h"
#include "process_table.h"
#include "pty.h"
#include "spawn.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What root's shells look for programs in. */
#define ROOT_PATH "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

/* The program's side of its descriptors and ours. */
struct descriptors {
    int in[2], out[2], err[2]; /* pipes; a terminal: out[0] is its master, out[1] itself */
};

static void close_pair(int ends[2], int which) {
    if (ends[which] >= 0)
        close(ends[which]);
    ends[which] = -1;
}

static void close_ours(struct descriptors *fds) {
    close_pair(fds->in, 1);
    close_pair(fds->out, 0);
    close_pair(fds->err, 0);
}

static void close_theirs(struct descriptors *fds) {
    close_pair(fds->in, 0);
    close_pair(fds->out, 1);
    close_pair(fds->err, 1);
}

static int open_descriptors(const process_request *request, struct descriptors *fds) {
    *fds = (struct descriptors){{-1, -1}, {-1, -1}, {-1, -1}};
    if (request->terminal)
        return pty_open(&fds->out[0], &fds->out[1], request->cols, request->rows);
    return spawn_pipe(fds->out) || spawn_pipe(fds->err) ||
                   (request->stdin_open && spawn_input_pipe(fds->in))
               ? -1
               : 0;
}

/* A terminal's program is told what it can do, unless it is told otherwise. */
static char **make_environment(const struct agent *agent, const process_request *request) {
    json_t *envs = request->terminal
                       ? json_pack("{s:s, s:s}", "TERM", "xterm-256color", "LANG", "C.UTF-8")
                       : json_object();
    if (envs && request->user == AGENT_ROOT)
        json_object_update_new(envs, json_pack("{s:s, s:s, s:s, s:s}", "HOME", "/root", "USER",
                                               "root", "LOGNAME", "root", "PATH", ROOT_PATH));
    char **made = NULL;
    if (envs && json_object_update(envs, agent->envs) == 0)
        made = environment_make(envs, request->envs);
    json_decref(envs);
    return made;
}

static pid_t spawn(const struct agent *agent, const process_request *request,
                   const struct descriptors *fds, spawn_stage *stage) {
    char **envp = make_environment(agent, request);
    pid_t pid = -1;
    *stage = SPAWN_FORK;
    errno = ENOMEM;
    if (envp)
        pid = spawn_program(&(spawn_options){.argv = request->argv,
                                             .envp = envp,
                                             .cwd = request->directory,
                                             .other_cwd = request->cwd ? NULL : "/",
                                             .in = request->terminal ? fds->out[1] : fds->in[0],
                                             .out = fds->out[1],
                                             .err = request->terminal ? fds->out[1] : fds->err[1],
                                             .terminal = request->terminal,
                                             .channel = -1,
                                             .user = request->user},
                            stage);
    int saved = errno;
    free(envp);
    errno = saved;
    return pid;
}

static void tell_not_started(const process_request *request, spawn_stage stage, int error,
                             process_fault *fault) {
    bool scarce =
        error == EAGAIN || error == ENOMEM || error == EMFILE || error == ENFILE || error == ENOSPC;
    const char *code = scarce ? "resource_exhausted" : "invalid_argument";
    const char *what = stage == SPAWN_CWD ? request->directory : request->argv[0];
    if (stage == SPAWN_CWD)
        process_fault_set(fault, code, "cannot enter the working directory '%.*s': %s",
                          process_fault_quote(what), what, strerror(error));
    else if (stage == SPAWN_EXEC)
        process_fault_set(fault, error == ENOENT ? "not_found" : code, "cannot run '%.*s': %s",
                          process_fault_quote(what), what, strerror(error));
    else
        process_fault_set(fault, scarce ? code : "internal", "cannot start a process: %s",
                          strerror(error));
}

/* Ends it, once. */
static void end(struct process *process) {
    ev_timer_stop(process->loop, &process->drain);
    process_output_flush(process);
    process->ended = true;
    process_input_end(process, PROCESS_INPUT_ENDED);
    process_streams_end(process);
    process_table_retire(process->table, process);
    process_output_watch(process);
}

static void release(struct process *process) {
    process_table_remove(process->table, process);
    json_decref(process->config);
    free(process->tag);
    free(process);
}

void process_advance(struct process *process) {
    if (process->exited && !process->ended && !process_output_is_open(process))
        end(process);
    if (process->ended && !process_output_is_open(process))
        release(process);
}

static void on_drained(struct ev_loop *loop, struct ev_timer *timer, int events) {
    (void)events;
    struct process *process = timer->data;
    /* A client that is slow gets its time: the pipes may hold what the program itself wrote. */
    if (process_streams_lag_somewhat(process)) {
        ev_timer_set(timer, PROCESS_DRAIN_SECONDS, 0.0);
        ev_timer_start(loop, timer);
        return;
    }
    end(process);
    process_advance(process);
}

static void on_exit_of_child(struct ev_loop *loop, struct ev_child *child, int events) {
    (void)events;
    struct process *process = child->data;
    ev_child_stop(loop, child);
    ev_timer_stop(loop, &process->deadline);
    process->exited = true;
    process->end.status = child->rstatus;
    process_output_exited(process);
    ev_timer_start(loop, &process->drain);
    process_advance(process);
}

static void on_deadline(struct ev_loop *loop, struct ev_timer *timer, int events) {
    (void)loop, (void)events;
    struct process *process = timer->data;
    process->end.late = true;
    process_kill(process);
}

/* ProcessConfig. NULL when out of memory. */
static json_t *make_config(const process_request *request) {
    json_t *config = json_pack("{s:s, s:s*}", "cmd", request->argv[0], "cwd", request->cwd);
    json_t *args = request->argv[1] ? json_array() : NULL;
    for (char **at = request->argv + 1; args && *at; at++)
        json_array_append_new(args, json_string(*at));
    if (args)
        json_object_set_new(config, "args", args);
    if (json_object_size(request->envs))
        json_object_set(config, "envs", (json_t *)request->envs);
    return config;
}

static void init(struct process *process, struct process_table *table,
                 const process_request *request, const struct descriptors *fds) {
    process->table = table;
    process->terminal = request->terminal;
    output_budget_begin(&process->budget, process_table_agent(table)->output);
    process_output_init(process, fds->out[0], fds->err[0]);
    process_input_init(process, request->terminal ? fds->out[0] : fds->in[1]);
    ev_child_init(&process->child, on_exit_of_child, process->end.pid, 0);
    ev_timer_init(&process->deadline, on_deadline, request->timeout, 0.0);
    ev_timer_init(&process->drain, on_drained, PROCESS_DRAIN_SECONDS, 0.0);
    process->child.data = process->deadline.data = process->drain.data = process;
    ev_child_start(process->loop, &process->child);
    if (request->timeout > 0.0)
        ev_timer_start(process->loop, &process->deadline);
    process_output_watch(process);
    process_table_add(table, process);
}

struct process *process_start(struct process_table *table, const process_request *request,
                              process_fault *fault) {
    struct agent *agent = process_table_agent(table);
    struct process *process = calloc(1, sizeof *process);
    struct descriptors fds = {{-1, -1}, {-1, -1}, {-1, -1}};
    spawn_stage stage = SPAWN_FORK;
    int error = ENOMEM;
    if (process) {
        process->loop = agent->loop;
        process->config = make_config(request);
        process->tag = request->tag ? strdup(request->tag) : NULL;
    }
    if (process && process->config && (process->tag || !request->tag)) {
        process->end.pid =
            open_descriptors(request, &fds) ? -1 : spawn(agent, request, &fds, &stage);
        error = errno;
    }
    close_theirs(&fds);
    if (process && process->end.pid > 0) {
        init(process, table, request, &fds);
        return process;
    }
    close_ours(&fds);
    tell_not_started(request, stage, error, fault);
    if (process) {
        json_decref(process->config);
        free(process->tag);
        free(process);
    }
    return NULL;
}

/* Whether its id still means its group. Once it has exited nobody else gets the id while there is
 * somebody in the group; so one who has it comes after the group, and may lead one of that id. */
static bool has_own_group(const struct process *process) {
    return !process->exited || (kill(process->end.pid, 0) && errno == ESRCH);
}

void process_kill(struct process *process) {
    if (has_own_group(process) && (!process->exited || kill(-process->end.pid, 0) == 0))
        spawn_kill_all(process->end.pid);
}

bool process_signal(struct process *process, int number, process_fault *fault) {
    pid_t pid = process->end.pid;
    if (number == SIGKILL) {
        process_kill(process);
        return true;
    }
    bool own = has_own_group(process);
    if (own && kill(-pid, number) == 0)
        return true;
    if (!own || errno == ESRCH)
        return process_fault_set(fault, "not_found", "process with pid %d not found", (int)pid);
    return process_fault_set(fault, errno == EPERM ? "permission_denied" : "internal",
                             "cannot send signal %d to process with pid %d: %s", number, (int)pid,
                             strerror(errno));
}

void process_free(struct process *process) {
    if (!process->ended)
        process_kill(process);
    ev_child_stop(process->loop, &process->child);
    ev_timer_stop(process->loop, &process->deadline);
    ev_timer_stop(process->loop, &process->drain);
    process_streams_cut(process);
    process_input_end(process, PROCESS_INPUT_ENDED);
    process_output_close(process);
    release(process);
}
