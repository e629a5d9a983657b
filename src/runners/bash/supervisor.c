/*
 * supervisor.c - the process that the agent knows as the runner: it has the channel, and a shell.
 *
 * It waits for four things at a time: requests, the agent's interrupts, the shell's answers, and
 * the shell's end. The builtin never returns to the bash that has loaded it.
 */
#include "builtin.h"
#include "report.h"
#include "shared_step.h"
#include "shell_process.h"

#include "descendants.h"
#include "request.h"
#include "wire.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

/* Milliseconds between two looks for processes that an interrupt has not reached yet. */
#define LOOK_AGAIN 20
/* Looks after which what is still in the foreground is killed: two seconds. */
#define LOOKS_BEFORE_KILL 100

struct supervisor {
    struct wire wire;
    struct shell_process shell;
    int signals; /* a signalfd */
    int count;   /* of steps */
    bool ready, running;
    int looks;                  /* since the interrupt; 0: the step was not interrupted */
    struct descendants earlier; /* processes that were there before the step */
    struct descendants told;    /* ones that were interrupted in it */
    struct descendants seen;    /* in the foreground, by the latest look */
};

static void begin_step(struct supervisor *s, const struct request *request) {
    char text[REQUEST_FAULT_MAX];
    const char *fault = request_env_fault(request, text);
    if (!fault && strlen(json_string_value(request->code)) != json_string_length(request->code))
        fault = "the code has a NUL character in it";
    report_count(&s->wire, ++s->count);
    if (fault) {
        report_error(&s->wire, "ValueError", fault, "");
        report_end(&s->wire, false);
        return;
    }
    descendants_of(s->shell.pid, NULL, &s->earlier);
    s->told.count = s->seen.count = 0;
    s->running = true;
    s->looks = 0;
    shell_process_run(&s->shell, request->code, request->env);
}

/* The shell may have left what it waited for before that was interrupted, too: `x=$(sleep 100)`. */
static void interrupt_left_behind(struct supervisor *s) {
    struct descendants spared = s->earlier;
    shell_process_add_background(&s->shell, &spared);
    descendants_signal(s->shell.pid, SIGINT, &spared, &s->told);
}

static void end_step(struct supervisor *s) {
    s->running = false;
    if (s->looks && s->shell.step->outcome == OUTCOME_INTERRUPTED)
        interrupt_left_behind(s);
    report_outcome(&s->wire, s->shell.step);
    report_end(&s->wire, false);
    shell_process_forget(&s->shell);
}

static void look_again(struct supervisor *s) {
    s->looks++;
    shell_process_look(&s->shell);
}

static struct descendants in_both(const struct descendants *a, const struct descendants *b) {
    struct descendants both = {0};
    for (size_t i = 0; i < a->count; i++) {
        if (descendants_have(b, a->pids[i]))
            descendants_add(&both, a->pids[i]);
    }
    return both;
}

/* The shell has said what is in its background: the rest of what it has started is what it waits
 * for. It may have said so before it put a new process there, so only what was seen by an earlier
 * look is believed to be in the foreground. */
static void interrupt_foreground(struct supervisor *s) {
    struct descendants spared = s->earlier, nobody = {0}, now;
    if (!s->running || !s->looks || !shell_process_background(&s->shell, &spared))
        return;
    descendants_of(s->shell.pid, &spared, &now);
    struct descendants foreground = in_both(&now, &s->seen);
    s->seen = now;
    if (s->looks < LOOKS_BEFORE_KILL)
        descendants_tell(&foreground, s->shell.pid, SIGINT, &s->told);
    else
        descendants_tell(&foreground, s->shell.pid, SIGKILL, &nobody);
    if (s->looks == 1)
        look_again(s);
}

static void on_interrupt(struct supervisor *s) {
    if (!s->running)
        return;
    s->looks = 1;
    shell_process_interrupt(&s->shell);
    shell_process_look(&s->shell);
}

/* Its end ends the step that it is in as bash ends: with a status. A crash is passed on: this
 * process dies of the same signal. */
static void on_shell_end(struct supervisor *s, int status) {
    bool interrupted = s->running && s->looks;
    if (WIFSIGNALED(status) && !(interrupted && WTERMSIG(status) == SIGINT))
        shell_process_die_alike(status);
    if (!s->ready)
        exit(1); /* bash has said why */
    if (s->running) {
        s->shell.step->outcome = interrupted ? OUTCOME_INTERRUPTED : OUTCOME_STATUS;
        s->shell.step->status = WEXITSTATUS(status);
        report_outcome(&s->wire, s->shell.step);
        report_end(&s->wire, true);
    }
    exit(0);
}

static void on_answer(struct supervisor *s) {
    if (!shell_process_has_answered(&s->shell))
        return; /* somebody else's signal */
    if (!s->ready) {
        s->ready = true;
        report_ready(&s->wire);
    } else if (s->running) {
        end_step(s);
    }
}

static void on_signals(struct supervisor *s) {
    struct signalfd_siginfo signals[8];
    ssize_t got = read(s->signals, signals, sizeof signals);
    bool interrupt = false;
    for (size_t i = 0; got > 0 && i < (size_t)got / sizeof *signals; i++)
        interrupt = interrupt || signals[i].ssi_signo == SIGINT;
    on_answer(s);
    if (interrupt)
        on_interrupt(s);
    interrupt_foreground(s);
    int status;
    if (shell_process_has_ended(&s->shell, &status))
        on_shell_end(s, status);
}

static void take_requests(struct supervisor *s) {
    size_t length;
    char *line;
    while (!s->running && s->ready && (line = wire_next(&s->wire, &length))) {
        struct request request = request_read(line, length);
        if (request.type == REQUEST_RUN) {
            begin_step(s, &request);
        } else if (request.type == REQUEST_UNKNOWN) {
            fprintf(stderr, "the bash runner cannot read what the agent sent\n");
            exit(1);
        }
        request_free(&request);
    }
}

static void serve(struct supervisor *s) {
    struct pollfd watched[] = {{.fd = s->signals, .events = POLLIN},
                               {.fd = s->wire.fd, .events = POLLIN}};
    for (;;) {
        bool looking = s->running && s->looks && s->looks <= LOOKS_BEFORE_KILL;
        int ready = poll(watched, 2, looking ? LOOK_AGAIN : -1);
        if (ready > 0 && watched[0].revents)
            on_signals(s);
        if (ready > 0 && watched[1].revents && !wire_fill(&s->wire))
            exit(0); /* the agent has gone; the shell dies with this process */
        if (ready == 0)
            look_again(s);
        take_requests(s);
    }
}

static int open_signals(void) {
    sigset_t all, wanted;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    sigemptyset(&wanted);
    sigaddset(&wanted, SIGINT);
    sigaddset(&wanted, SIGCHLD);
    sigaddset(&wanted, SHARED_DONE);
    return signalfd(-1, &wanted, SFD_CLOEXEC);
}

static int supervise(struct bash_words *words) {
    static struct supervisor s;
    if (!words || !words->next || !words->next->next || words->next->next->next)
        return 2;
    const char *bash = words->next->word->text, *library = words->next->next->word->text;
    sigset_t mask;
    sigprocmask(SIG_SETMASK, NULL, &mask);
    /* Other processes of the sandbox run as the same user: the channel is not for them. */
    prctl(PR_SET_DUMPABLE, 0);
    prctl(PR_SET_NAME, "stepbox-bash");
    if (wire_open(&s.wire, atoi(words->word->text)) || (s.signals = open_signals()) < 0 ||
        shell_process_start(&s.shell, bash, library, &mask)) {
        perror("the bash runner cannot start");
        exit(1);
    }
    serve(&s);
    return 0;
}

static const char *const documentation[] = {"Has the channel to the agent, and a shell.", NULL};

extern struct bash_builtin stepbox_supervisor_struct BASH_FINDS;
struct bash_builtin stepbox_supervisor_struct = {
    .name = "stepbox_supervisor",
    .function = supervise,
    .flags = BASH_BUILTIN_ENABLED,
    .long_doc = documentation,
    .short_doc = "stepbox_supervisor FD BASH LIBRARY",
};
