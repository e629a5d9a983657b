/* runner_source.c - see runner_source.h */
#include "runner_source.h"

#include "log.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Seconds until another runner is asked for in advance after one was taken: who takes one, or
 * several, needs the processor. */
#define SPARE_DELAY 0.05

struct waiting {
    runner_answer *answer; /* NULL: the number is free, or, when taken, its answer is not wanted */
    void *user;
    bool taken;
};

struct runner_source {
    struct ev_loop *loop;
    int control_fd;
    struct waiting waiting[RUNNER_REQUESTS_MAX]; /* by number */
    bool has_spare, spare_asked;
    int spare[RUNNER_FDS];
    struct ev_timer refill;
};

static int ask(struct runner_source *source, runner_answer *answer, void *user) {
    int number = 0;
    while (number < RUNNER_REQUESTS_MAX && source->waiting[number].taken)
        number++;
    if (number == RUNNER_REQUESTS_MAX)
        return -1;
    control_message request = {
        .kind = RUNNER_REQUEST, .flags = RUNNER_PYTHON, .number = (uint16_t)number};
    /* One that does not fit in now is not worth waiting for: the program can be started here. */
    if (control_message_send(source->control_fd, &request) != CONTROL_OK)
        return -1;
    source->waiting[number] = (struct waiting){answer, user, true};
    return number;
}

static void close_all(const int fds[RUNNER_FDS]) {
    for (int i = 0; i < RUNNER_FDS; i++)
        close(fds[i]);
}

static void on_spare(const int fds[RUNNER_FDS], void *user) {
    struct runner_source *source = user;
    source->spare_asked = false;
    if (!fds)
        return; /* the next context asks again */
    memcpy(source->spare, fds, sizeof source->spare);
    source->has_spare = true;
}

static void on_refill(struct ev_loop *loop, struct ev_timer *timer, int events) {
    (void)loop, (void)events;
    struct runner_source *source = timer->data;
    if (!source->has_spare && !source->spare_asked)
        source->spare_asked = ask(source, on_spare, source) >= 0;
}

/* Code may have killed it meanwhile: the other end is closed then. */
static bool is_alive(const int fds[RUNNER_FDS]) {
    struct pollfd channel = {.fd = fds[RUNNER_FD_CHANNEL], .events = POLLRDHUP};
    return poll(&channel, 1, 0) == 0;
}

struct runner_source *runner_source_new(struct ev_loop *loop, int control_fd) {
    struct runner_source *source = calloc(1, sizeof *source);
    if (!source)
        return NULL;
    source->loop = loop;
    source->control_fd = control_fd;
    ev_timer_init(&source->refill, on_refill, SPARE_DELAY, 0.0);
    source->refill.data = source;
    return source;
}

void runner_source_begin(struct runner_source *source) {
    on_refill(source->loop, &source->refill, 0);
}

void runner_source_free(struct runner_source *source) {
    if (!source)
        return;
    if (source->has_spare)
        close_all(source->spare);
    ev_timer_stop(source->loop, &source->refill);
    free(source);
}

bool runner_source_take_spare(struct runner_source *source, int fds[RUNNER_FDS]) {
    if (!source)
        return false;
    ev_timer_stop(source->loop, &source->refill);
    ev_timer_set(&source->refill, SPARE_DELAY, 0.0);
    ev_timer_start(source->loop, &source->refill);
    if (!source->has_spare)
        return false;
    source->has_spare = false;
    memcpy(fds, source->spare, sizeof source->spare);
    if (is_alive(fds))
        return true;
    close_all(fds);
    return false;
}

int runner_source_ask(struct runner_source *source, runner_answer *answer, void *user) {
    return source ? ask(source, answer, user) : -1;
}

void runner_source_forget(struct runner_source *source, int number) {
    /* The number stays taken until the engine has answered. */
    if (source && number >= 0 && number < RUNNER_REQUESTS_MAX)
        source->waiting[number].answer = NULL;
}

bool runner_source_take(struct runner_source *source, control_message *message) {
    bool given = message->kind == RUNNER_GIVEN;
    if (!source || !(given || message->kind == RUNNER_REFUSED))
        return false;
    if (message->number >= RUNNER_REQUESTS_MAX || !source->waiting[message->number].taken ||
        message->count != (given ? (size_t)RUNNER_FDS : 0)) {
        log_warn("an answer about a runner that does not fit");
        control_message_close(message);
        return true;
    }
    struct waiting waiting = source->waiting[message->number];
    source->waiting[message->number] = (struct waiting){0};
    if (!waiting.answer) {
        control_message_close(message);
        return true;
    }
    message->count = 0;
    waiting.answer(given ? message->fds : NULL, waiting.user);
    return true;
}

bool runner_source_has(const char *language) {
    return strcmp(language, "python") == 0;
}

bool runner_source_suits(char *const *environment) {
    static const char *const early[] = {"PYTHON", "LD_",          "MALLOC_", "GLIBC_TUNABLES=",
                                        "LC_",    "VIRTUAL_ENV=", "IPYTHON", "OPENSSL_"};
    static const char usual[] = "LANG=C.UTF-8";
    for (; *environment; environment++) {
        for (size_t i = 0; i < sizeof early / sizeof *early; i++)
            if (strncmp(*environment, early[i], strlen(early[i])) == 0)
                return false;
        if (strncmp(*environment, "LANG=", 5) == 0 && strcmp(*environment, usual) != 0)
            return false;
    }
    return true;
}
