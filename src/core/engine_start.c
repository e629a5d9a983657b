#include "engine_start.h"

#include "engine_path.h"
#include "timestamp.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define START_SECONDS 10.0
#define REAP_SECONDS 0.02
/* After its word the child has this many chances to end before it is left alone. */
#define REAP_ATTEMPTS 100
#define MAX_WORD 1024
/* The descriptor on which stepboxd finds the pipe. */
#define READY_FD 3

/* Where `make install` puts programs; the build says it. */
#ifndef STEPBOX_BINDIR
#define STEPBOX_BINDIR "/usr/local/bin"
#endif

extern char **environ;

struct sbi_engine_start {
    struct sbi_engine_start *next;
    sb_loop *loop;
    struct sbi_config *config;
    char *path;
    pid_t pid;
    struct sbi_watch pipe;  /* fd -1 when closed */
    struct sbi_timer timer; /* the bound; afterwards the next try to reap */
    struct sbi_buffer word;
    struct sbi_exchange *first_waiting;
    int reap_attempts;
    bool is_decided;
};

static void on_pipe(void *user);
static void on_timer(void *user);

static int set_attributes(posix_spawnattr_t *attributes) {
    sigset_t all, none;
    sigfillset(&all);
    sigemptyset(&none);
    int failure = posix_spawnattr_setsigdefault(attributes, &all);
    if (failure == 0) {
        failure = posix_spawnattr_setsigmask(attributes, &none);
    }
    if (failure == 0) {
        failure =
            posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
    }
    return failure;
}

/* The engine outlives us: it gets none of our descriptors but the pipe. */
static int set_descriptors(posix_spawn_file_actions_t *actions, int pipe_fd) {
    int failure = posix_spawn_file_actions_adddup2(actions, pipe_fd, READY_FD);
    for (int fd = 0; fd <= 2 && failure == 0; fd++) {
        failure = posix_spawn_file_actions_addopen(actions, fd, "/dev/null", O_RDWR, 0);
    }
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 34)
    if (failure == 0) {
        failure = posix_spawn_file_actions_addclosefrom_np(actions, READY_FD + 1);
    }
#endif
    return failure;
}

static int spawn(struct sbi_engine_start *start, int pipe_fd) {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    char *arguments[] = {start->path, "--socket", start->config->socket, "--daemon", "--ready-fd",
                         "3",         NULL};
    int failure = posix_spawn_file_actions_init(&actions);
    if (failure != 0) {
        return failure;
    }
    failure = posix_spawnattr_init(&attributes);
    if (failure == 0) {
        failure = set_attributes(&attributes);
        if (failure == 0) {
            failure = set_descriptors(&actions, pipe_fd);
        }
        if (failure == 0) {
            failure =
                posix_spawn(&start->pid, start->path, &actions, &attributes, arguments, environ);
        }
        posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&actions);
    return failure;
}

static void close_pipe(struct sbi_engine_start *start) {
    if (start->pipe.fd >= 0) {
        sbi_loop_unwatch(start->loop, &start->pipe);
        close(start->pipe.fd);
        start->pipe.fd = -1;
    }
}

/* True when the child is no more, or not ours any more: the host may have reaped it. */
static bool reap(struct sbi_engine_start *start) {
    pid_t pid;
    do {
        pid = waitpid(start->pid, NULL, WNOHANG);
    } while (pid < 0 && errno == EINTR);
    return pid != 0;
}

static void free_start(struct sbi_engine_start *start) {
    struct sbi_engine_start **link = &start->loop->engine_starts;
    while (*link != NULL && *link != start) {
        link = &(*link)->next;
    }
    if (*link != NULL) {
        *link = start->next;
    }
    close_pipe(start);
    sbi_loop_unset_timer(start->loop, &start->timer);
    sbi_buffer_free(&start->word);
    sbi_config_release(start->config);
    free(start->path);
    free(start);
}

static void reap_or_wait(struct sbi_engine_start *start) {
    if (reap(start) || ++start->reap_attempts > REAP_ATTEMPTS) {
        free_start(start);
        return;
    }
    sbi_loop_set_timer(start->loop, &start->timer, sbi_deadline(REAP_SECONDS));
}

/* Tells all that wait. Their next steps may start another engine, which is not this one. */
static void decide(struct sbi_engine_start *start, const sb_error *error) {
    start->is_decided = true;
    close_pipe(start);
    struct sbi_exchange *exchange;
    while ((exchange = start->first_waiting) != NULL) {
        start->first_waiting = exchange->next_waiting;
        exchange->next_waiting = NULL;
        sbi_exchange_engine_ready(exchange, error);
    }
}

static void fail_start(const struct sbi_engine_start *start, sb_error *error) {
    char word[400];
    const char *text = sbi_buffer_string(&start->word);
    if (strncmp(text, "error: ", 7) == 0) {
        sbi_fail(error, SB_UNAVAILABLE, "the local engine cannot run here: %s", text + 7);
    } else if (start->word.length > 0) {
        strncpy(word, text, sizeof word - 1);
        word[sizeof word - 1] = '\0';
        sbi_fail(error, SB_UNAVAILABLE, "%s is no stepboxd: it says \"%s\"", start->path, word);
    } else {
        sbi_fail(error, SB_UNAVAILABLE,
                 "the local engine %s ended without a word; run it by hand "
                 "to see why",
                 start->path);
    }
}

/* The pipe is at its end: what was said? */
static void hear(struct sbi_engine_start *start) {
    char *newline = start->word.data != NULL ? strchr(start->word.data, '\n') : NULL;
    if (newline != NULL) {
        *newline = '\0';
    }
    if (strcmp(sbi_buffer_string(&start->word), "ready") == 0) {
        decide(start, NULL);
    } else {
        sb_error error;
        fail_start(start, &error);
        decide(start, &error);
    }
    reap_or_wait(start);
}

static void on_pipe(void *user) {
    struct sbi_engine_start *start = user;
    char bytes[256];
    ssize_t length = read(start->pipe.fd, bytes, sizeof bytes);
    if (length < 0 && (errno == EINTR || errno == EAGAIN)) {
        return;
    }
    if (length > 0 && sbi_buffer_append(&start->word, bytes, (size_t)length) == SB_OK &&
        memchr(bytes, '\n', (size_t)length) == NULL) {
        return;
    }
    hear(start);
}

static void on_timer(void *user) {
    struct sbi_engine_start *start = user;
    if (start->is_decided) {
        reap_or_wait(start);
        return;
    }
    sb_error error;
    sbi_fail(&error, SB_UNAVAILABLE, "the local engine %s did not get ready within %g s",
             start->path, START_SECONDS);
    /* Only what is surely still our child. */
    if (!reap(start)) {
        kill(start->pid, SIGKILL);
    }
    decide(start, &error);
    reap_or_wait(start);
}

static int begin(struct sbi_engine_start *start, sb_error *err) {
    struct sbi_buffer tried;
    int ends[2];
    sbi_buffer_init(&tried, 400);
    start->path = sbi_engine_path(start->config, STEPBOX_BINDIR, &tried);
    if (start->path == NULL) {
        sbi_fail(err, SB_UNAVAILABLE,
                 "no local engine runs at %s, and stepboxd to start one is not to be found (looked "
                 "for it at %s); install it, set STEPBOX_ENGINE to its path, or set E2B_API_KEY to "
                 "use E2B",
                 start->config->socket, sbi_buffer_string(&tried));
        sbi_buffer_free(&tried);
        return -1;
    }
    sbi_buffer_free(&tried);
    if (pipe2(ends, O_CLOEXEC) != 0) {
        return sbi_fail(err, SB_SYSTEM, "pipe: %s", strerror(errno));
    }
    start->pipe.fd = ends[0];
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    int failure = spawn(start, ends[1]);
    close(ends[1]);
    if (failure != 0) {
        return sbi_fail(err, SB_UNAVAILABLE, "the local engine %s cannot be started: %s",
                        start->path, strerror(failure));
    }
    if (sbi_loop_watch(start->loop, &start->pipe) != 0) {
        return sbi_fail(err, SB_SYSTEM, "epoll_ctl: %s", strerror(errno));
    }
    sbi_loop_set_timer(start->loop, &start->timer, sbi_deadline(START_SECONDS));
    return 0;
}

static struct sbi_engine_start *new_start(sb_loop *loop, struct sbi_config *config) {
    struct sbi_engine_start *start = calloc(1, sizeof *start);
    if (start == NULL) {
        return NULL;
    }
    start->loop = loop;
    start->config = sbi_config_keep(config);
    start->pipe = (struct sbi_watch){.fd = -1, .readable = on_pipe, .user = start};
    start->timer = (struct sbi_timer){.fire = on_timer, .user = start};
    sbi_buffer_init(&start->word, MAX_WORD);
    start->next = loop->engine_starts;
    loop->engine_starts = start;
    return start;
}

/* A start that is under way for the same engine. */
static struct sbi_engine_start *find_start(const sb_loop *loop, const struct sbi_config *config) {
    const char *engine = config->engine != NULL ? config->engine : "";
    for (struct sbi_engine_start *start = loop->engine_starts; start != NULL; start = start->next) {
        const char *other = start->config->engine != NULL ? start->config->engine : "";
        if (!start->is_decided && strcmp(start->config->socket, config->socket) == 0 &&
            strcmp(other, engine) == 0) {
            return start;
        }
    }
    return NULL;
}

void sbi_engine_start_join(sb_loop *loop, struct sbi_exchange *exchange) {
    struct sbi_engine_start *start = find_start(loop, exchange->config);
    sb_error error;
    if (start == NULL) {
        start = new_start(loop, exchange->config);
        if (start == NULL) {
            sbi_no_memory(&error);
            sbi_exchange_engine_ready(exchange, &error);
            return;
        }
        if (begin(start, &error) != 0) {
            /* pid 0: nothing was started. A child that cannot be watched ends by itself. */
            free_start(start);
            sbi_exchange_engine_ready(exchange, &error);
            return;
        }
    }
    exchange->engine_start = start;
    exchange->next_waiting = start->first_waiting;
    start->first_waiting = exchange;
}

void sbi_engine_start_leave(struct sbi_exchange *exchange) {
    if (exchange->engine_start == NULL) {
        return;
    }
    struct sbi_exchange **link = &exchange->engine_start->first_waiting;
    while (*link != NULL && *link != exchange) {
        link = &(*link)->next_waiting;
    }
    if (*link != NULL) {
        *link = exchange->next_waiting;
    }
    exchange->engine_start = NULL;
}

void sbi_engine_start_abandon(sb_loop *loop) {
    while (loop->engine_starts != NULL) {
        reap(loop->engine_starts);
        free_start(loop->engine_starts);
    }
}
