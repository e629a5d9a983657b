/* runner_source.c - see runner_source.h */
#include "runner_source.h"

#include "log.h"

#include <stdlib.h>
#include <string.h>

struct waiting {
    runner_answer *answer; /* NULL: the number is free, or, when taken, its answer is not wanted */
    void *user;
    bool taken;
};

struct runner_source {
    int control_fd;
    struct waiting waiting[RUNNER_REQUESTS_MAX]; /* by number */
};

struct runner_source *runner_source_new(int control_fd) {
    struct runner_source *source = calloc(1, sizeof *source);
    if (source)
        source->control_fd = control_fd;
    return source;
}

void runner_source_free(struct runner_source *source) {
    free(source);
}

int runner_source_ask(struct runner_source *source, const char *language, runner_answer *answer,
                      void *user) {
    if (!source || strcmp(language, "python") != 0)
        return -1;
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
