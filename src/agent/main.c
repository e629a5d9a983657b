/*
 * main.c - stepbox-agent: the first process of a sandbox, or a server of its own.
 *
 * As process 1 it has no handler for the signals that end programs: the kernel then keeps those
 * sent from inside the sandbox away from it. It reaps every orphan (libev waits for any child).
 */
#include "agent.h"
#include "code_interpreter.h"
#include "control_socket.h"
#include "envd.h"
#include "filesystem_service.h"
#include "filter.h"
#include "log.h"
#include "options.h"
#include "pause.h"
#include "pause_message.h"
#include "port_relay.h"
#include "privileges.h"
#include "process_table.h"
#include "runner_source.h"
#include "spawn.h"
#include "spawn_limits.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

/* Seconds without accepting connections when there is no room for another. */
#define RETRY_SECONDS 0.1

static const agent_peer peers[] = {AGENT_PEER_CLIENT, AGENT_PEER_ENGINE};

/* Everything main() sets up, in one place so that callbacks find it. */
struct program {
    struct agent agent;
    code_interpreter *interpreter;
    http_server *envd, *code;
    port_relays *relays;
    struct ev_io control, listen_envd, listen_code;
    struct ev_timer retry; /* of listening */
    struct ev_signal term, interrupt;
};

/* Our own services, and relays to those of others in the sandbox. */
static void take_connection(struct program *program, const control_connection *connection) {
    static const char accepted = CONTROL_ACCEPTED;
    if (connection->word) { /* none that the engine has for us */
        close(connection->fd);
        return;
    }
    bool from_engine = connection->flags & CONTROL_FROM_ENGINE;
    bool announce = connection->flags & CONTROL_ANNOUNCE;
    http_server *server = connection->port == AGENT_PORT_ENVD   ? program->envd
                          : connection->port == AGENT_PORT_CODE ? program->code
                                                                : NULL;
    if (!server) {
        port_relays_add(program->relays, connection->fd, connection->port, announce);
        return;
    }
    if (announce && send(connection->fd, &accepted, 1, MSG_NOSIGNAL | MSG_DONTWAIT) != 1)
        close(connection->fd);
    else if (http_server_add(server, connection->fd, (void *)&peers[from_engine]))
        log_error("a connection could not be taken: %s", strerror(errno));
}

static void take_message(control_message *message, void *user) {
    struct program *program = user;
    control_connection connection;
    if (control_socket_connection(message, &connection))
        take_connection(program, &connection);
    else if (!runner_source_take(program->agent.runner_source, message))
        control_message_close(message);
}

/* Says CONTROL_OK or CONTROL_CLOSED. */
static control_result stand_still(struct program *program, int fd, control_message *message) {
    control_message_close(message); /* none of the engine's has descriptors */
    if (getpid() != 1)              /* which alone may stop all others */
        return CONTROL_OK;
    bool heard = false, under_way = false;
    http_server_traffic(program->envd, &heard, &under_way);
    http_server_traffic(program->code, &heard, &under_way);
    message->flags |= (uint8_t)((heard ? PAUSE_HEARD : 0) | (under_way ? PAUSE_UNDER_WAY : 0));
    if (!(message->flags & PAUSE_KEEP)) {
        /* Whatever comes on those would wait; on a new connection the engine can answer. */
        http_server_close_idle(program->envd);
        http_server_close_idle(program->code);
    }
    if (!pause_follow(program->agent.loop, fd, message, take_message, program))
        return CONTROL_CLOSED;
    http_server_woke(program->envd);
    http_server_woke(program->code);
    return CONTROL_OK;
}

static void on_control(struct ev_loop *loop, struct ev_io *io, int events) {
    (void)events;
    struct program *program = io->data;
    control_message message;
    control_result result;
    while ((result = control_message_receive(io->fd, &message)) == CONTROL_OK) {
        if (message.kind != PAUSE_STOP)
            take_message(&message, program);
        else if ((result = stand_still(program, io->fd, &message)) != CONTROL_OK)
            break;
    }
    if (result == CONTROL_CLOSED) {
        ev_break(loop, EVBREAK_ALL);
    } else if (result == CONTROL_ERROR) {
        log_warn("control socket: %s", strerror(errno));
        if (errno != EPROTO)
            ev_break(loop, EVBREAK_ALL);
    }
}

/* Listens again, after a time without. */
static void on_retry(struct ev_loop *loop, struct ev_timer *timer, int events) {
    (void)timer, (void)events;
    struct program *program = timer->data;
    ev_io_start(loop, &program->listen_envd);
    ev_io_start(loop, &program->listen_code);
}

static void on_listen(struct ev_loop *loop, struct ev_io *io, int events) {
    (void)events;
    struct program *program = io->data;
    int fd = accept4(io->fd, NULL, NULL, SOCK_CLOEXEC);
    if (fd >= 0) {
        http_server_add(io == &program->listen_envd ? program->envd : program->code, fd,
                        (void *)&peers[0]);
    } else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
        /* The connection goes on waiting, and must not keep the loop busy. */
        ev_io_stop(loop, &program->listen_envd);
        ev_io_stop(loop, &program->listen_code);
        ev_timer_set(&program->retry, RETRY_SECONDS, 0.0);
        ev_timer_start(loop, &program->retry);
    }
}

static void on_stop(struct ev_loop *loop, struct ev_signal *signal_watcher, int events) {
    (void)signal_watcher, (void)events;
    ev_break(loop, EVBREAK_ALL);
}

static int set_flags(int fd) {
    int flags = fcntl(fd, F_GETFL);
    return flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) || fcntl(fd, F_SETFD, FD_CLOEXEC)
               ? -1
               : 0;
}

static int open_listener(const struct address *address) {
    int one = 1,
        fd = socket(address->socket.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return -1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (bind(fd, (const struct sockaddr *)&address->socket, address->length) == 0 &&
        listen(fd, SOMAXCONN) == 0)
        return fd;
    int saved = errno;
    close(fd);
    errno = saved;
    return -1;
}

static int start_control(struct program *program, int fd) {
    if (set_flags(fd)) {
        log_error("--control %d: %s", fd, strerror(errno));
        return -1;
    }
    ev_io_init(&program->control, on_control, fd, EV_READ);
    program->control.data = program;
    ev_io_start(program->agent.loop, &program->control);
    return 0;
}

static int start_listening(struct program *program, const struct options *options) {
    struct ev_loop *loop = program->agent.loop;
    int envd = open_listener(&options->envd), code = open_listener(&options->code);
    if (envd < 0 || code < 0) {
        log_error("cannot listen: %s", strerror(errno));
        return -1;
    }
    ev_io_init(&program->listen_envd, on_listen, envd, EV_READ);
    ev_io_init(&program->listen_code, on_listen, code, EV_READ);
    program->listen_envd.data = program->listen_code.data = program;
    ev_timer_init(&program->retry, on_retry, 0.0, 0.0);
    program->retry.data = program;
    ev_io_start(loop, &program->listen_envd);
    ev_io_start(loop, &program->listen_code);
    ev_signal_init(&program->term, on_stop, SIGTERM);
    ev_signal_init(&program->interrupt, on_stop, SIGINT);
    ev_signal_start(loop, &program->term);
    ev_signal_start(loop, &program->interrupt);
    return 0;
}

static int start(struct program *program, const struct options *options) {
    struct agent *agent = &program->agent;
    agent->loop = ev_default_loop(EVFLAG_AUTO);
    agent->runners = options->runners;
    agent->home = options->home;
    agent->interrupt_grace = AGENT_INTERRUPT_GRACE;
    agent->memory = options->memory;
    agent->cpus = options->cpus;
    agent->output = (uint64_t)options->output;
    agent->standalone = options->control < 0;
    agent->envs = json_object();
    agent->processes = process_table_new(agent);
    if (!agent->standalone)
        agent->runner_source = runner_source_new(agent->loop, options->control);
    program->interpreter = agent->loop ? code_interpreter_new(agent) : NULL;
    if (!agent->envs || !agent->processes || !program->interpreter)
        return -1;
    program->envd = http_server_new(agent->loop, envd_handle, agent, AGENT_BODY_MAX);
    program->code =
        http_server_new(agent->loop, code_interpreter_handle, program->interpreter, AGENT_BODY_MAX);
    program->relays = port_relays_new(agent->loop);
    if (!program->envd || !program->code || !program->relays)
        return -1;
    http_server_on_head(program->envd, envd_head);
    http_server_on_head(program->code, code_interpreter_head);
    return agent->standalone ? start_listening(program, options)
                             : start_control(program, options->control);
}

#ifdef __SANITIZE_ADDRESS__
/*
 * What it handles, the kernel would let processes inside send to process 1; and a limit of 0 for
 * core files, which it sets for itself and so for all of the sandbox, lets the host's handler run.
 * What it keeps of freed memory counts as the sandbox's: by default it would be all that small ones
 * have.
 */
const char *__asan_default_options(void);
__attribute__((visibility("default"))) const char *__asan_default_options(void) {
    return "handle_segv=0:handle_sigbus=0:handle_sigfpe=0:disable_coredump=0:"
           "quarantine_size_mb=16";
}
#endif

int main(int argc, char **argv) {
    static struct program program;
    struct options options;
    /* Code of the same user must not look into this process or its descriptors. */
    prctl(PR_SET_DUMPABLE, 0);
    /* Whatever was blocked where we were started from: the loop needs to hear of its children. */
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    signal(SIGPIPE, SIG_IGN);
    /* Orphans come to us, as to a process 1. */
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    log_open("stepbox-agent", LOG_LEVEL_WARN);
    int read = options_read(argc, argv, &options);
    if (read)
        return read < 0 ? 2 : 0;
    log_open("stepbox-agent", options.log);
    if (options.control >= 0)
        umask(022); /* not that of whoever started the engine */
    if (options.filter >= 0 && filter_install(options.filter, options.control)) {
        log_error("cannot install the filter of system calls: %s", strerror(errno));
        return 1;
    }
    if (options.control >= 0 && privileges_take()) {
        log_error("cannot become the user of the sandbox: %s", strerror(errno));
        return 1;
    }
    prctl(PR_SET_DUMPABLE, 0); /* another user begins anew */
    /* Programs and runners cannot do without; who starts us may have cleared everything. */
    setenv("HOME", options.home, 0);
    setenv("PATH", "/usr/local/bin:/usr/bin:/bin", 0);
    setenv("LANG", "C.UTF-8", 0);
    spawn_raise_file_limit();
    spawn_limits_raise();
    spawn_limits_of_data(options.runner_data, options.program_data);
    if (start(&program, &options)) {
        log_error("cannot start");
        return 1;
    }
    if (program.agent.runner_source)
        runner_source_begin(program.agent.runner_source);
    ev_run(program.agent.loop, 0);
    if (getpid() == 1)
        return 0; /* the kernel ends all the others */
    code_interpreter_free(program.interpreter);
    process_table_free(program.agent.processes);
    filesystem_free_watchers(&program.agent);
    spawn_kill_children();
    http_server_free(program.envd);
    http_server_free(program.code);
    port_relays_free(program.relays);
    runner_source_free(program.agent.runner_source);
    json_decref(program.agent.envs);
    free(program.agent.access_token);
    free(program.agent.workdir);
    return 0;
}
