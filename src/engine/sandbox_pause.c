/*
 * sandbox_pause.c - stops everything in a sandbox, and lets it go on.
 *
 * Where the sandbox has a control group the kernel freezes it, after the agent has been told to
 * wait: it has to know, for the sake of its deadlines, that time stands still. Elsewhere the agent
 * stops the processes too (src/agent/pause.h). Its echo of a word is the sign that it has done what
 * was said. Each word has a number, so that a late echo is not taken for another word's.
 */
#include "sandbox_internal.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "log.h"
#include "pause_message.h"
#include "pause_waiters.h"
#include "rfc3339.h"

/* Seconds for the agent's echo, and for the kernel. */
#define PAUSE_DEADLINE 10.0
#define RESUME_DEADLINE 30.0
/* Seconds to live for a sandbox that traffic resumed: what it was last given, but at least that. */
#define LEAST_AFTER_TRAFFIC 300
/* Seconds between looks at a group that is being frozen. */
#define LOOK_INTERVAL 0.002

bool sandbox_is_running(const struct sandbox *sandbox) {
    return sandbox->state == SANDBOX_RUNNING;
}

bool sandbox_seems_running(const struct sandbox *sandbox) {
    return sandbox->state == SANDBOX_RUNNING || sandbox->pause.ran;
}

bool sandbox_is_resuming(const struct sandbox *sandbox) {
    return sandbox->state == SANDBOX_RESUMING || sandbox->pause.ran;
}

static int add_waiter(struct sandbox *sandbox, enum pause_awaited awaited, sandbox_settled *settled,
                      void *user) {
    return pause_waiters_add(&sandbox->pause.waiters, awaited, settled, user);
}

/* They may end the sandbox, but it is not freed before the loop goes on. */
static void tell(struct sandbox *sandbox, enum pause_awaited awaited, struct sandbox *there,
                 int status, const char *message) {
    pause_waiters_tell(&sandbox->pause.waiters, awaited, there, status, message);
}

static bool has_waiter(const struct sandbox *sandbox, enum pause_awaited awaited) {
    return pause_waiters_have(sandbox->pause.waiters, awaited);
}

static void stop_waiting(struct sandbox *sandbox) {
    ev_timer_stop(sandbox_loop(sandbox), &sandbox->pause.look);
    ev_timer_stop(sandbox_loop(sandbox), &sandbox->pause.deadline);
}

static void send_word(struct sandbox *sandbox, uint8_t kind) {
    struct sandbox_pause *pause = &sandbox->pause;
    uint8_t flags = (uint8_t)((pause->by_group ? PAUSE_FROZEN : 0) |
                              (sandbox->record.auto_resume ? PAUSE_KEEP : 0));
    control_message message = {.kind = kind, .flags = flags, .number = ++pause->number};
    /* When it cannot be sent, the agent has ended. */
    sandbox_link_send_message(sandbox, &message);
}

/* Says a word, and waits for its echo. */
static void say(struct sandbox *sandbox, uint8_t kind, double seconds) {
    ev_timer *deadline = &sandbox->pause.deadline;
    send_word(sandbox, kind);
    ev_timer_stop(sandbox_loop(sandbox), deadline);
    ev_timer_set(deadline, seconds, 0.0);
    ev_timer_start(sandbox_loop(sandbox), deadline);
}

static void begin_pause(struct sandbox *sandbox) {
    struct ev_loop *loop = sandbox_loop(sandbox);
    struct sandbox_pause *pause = &sandbox->pause;
    /* A timer that has just run out is not active any more. */
    pause->left = ev_is_active(&sandbox->life) ? ev_timer_remaining(loop, &sandbox->life) : 0.0;
    ev_timer_stop(loop, &sandbox->life);
    pause->seconds = 0;
    pause->by_group = sandbox->cgroup != NULL;
    sandbox_set_state(sandbox, SANDBOX_PAUSING,
                      pause->held       ? "for a snapshot"
                      : pause->left > 0 ? "asked for"
                                        : "its time is over");
    say(sandbox, PAUSE_STOP, PAUSE_DEADLINE);
}

static void begin_resume(struct sandbox *sandbox) {
    sandbox_set_state(sandbox, SANDBOX_RESUMING, "asked for");
    if (sandbox->pause.by_group)
        cgroup_freeze(sandbox->cgroup, false);
    say(sandbox, PAUSE_GO, RESUME_DEADLINE);
}

/* Clients see it from now on. */
static void show_paused(struct sandbox *sandbox) {
    sandbox->record.paused = true;
    sandbox->record.end_at = rfc3339_now();
}

static void on_paused(struct sandbox *sandbox) {
    struct sandbox_pause *pause = &sandbox->pause;
    sandbox_set_state(sandbox, SANDBOX_PAUSED, "everything in it stands still");
    if (pause->held) { /* a client who wants it paused waits for the end of that */
        tell(sandbox, AWAIT_HELD, sandbox, 0, NULL);
        return;
    }
    show_paused(sandbox);
    tell(sandbox, AWAIT_PAUSED, sandbox, 0, NULL);
    if (sandbox->state == SANDBOX_PAUSED && !pause->held && has_waiter(sandbox, AWAIT_RUNNING))
        begin_resume(sandbox);
}

static void on_resumed(struct sandbox *sandbox) {
    struct sandbox_pause *pause = &sandbox->pause;
    int timeout = pause->ran ? sandbox->record.timeout : pause->seconds;
    sandbox_set_state(sandbox, SANDBOX_RUNNING, "it goes on");
    sandbox->record.paused = pause->ran = false;
    sandbox_set_timeout(sandbox, pause->seconds);
    sandbox->record.timeout = timeout;
    tell(sandbox, AWAIT_RUNNING, sandbox, 0, NULL);
    sandbox_pause_begin_asked(sandbox);
}

static void on_look(struct ev_loop *loop, ev_timer *timer, int events) {
    (void)events;
    struct sandbox *sandbox = timer->data;
    if (!cgroup_is_frozen(sandbox->cgroup)) {
        ev_timer_again(loop, timer);
        return;
    }
    stop_waiting(sandbox);
    on_paused(sandbox);
}

/* The agent waits. Its processes do, or the kernel freezes them now; where it does not, the agent
 * has to stop them after all. */
static void on_agent_waits(struct sandbox *sandbox) {
    if (!sandbox->pause.by_group) {
        stop_waiting(sandbox);
        on_paused(sandbox);
    } else if (cgroup_freeze(sandbox->cgroup, true) == 0) {
        on_look(sandbox_loop(sandbox), &sandbox->pause.look, 0);
    } else {
        log_debug("sandbox %s: cannot be frozen: %s", sandbox->record.id, strerror(errno));
        sandbox->pause.by_group = false;
        say(sandbox, PAUSE_STOP, PAUSE_DEADLINE);
    }
}

bool sandbox_pause_take(struct sandbox *sandbox, control_message *message) {
    if ((message->kind != PAUSE_STOP && message->kind != PAUSE_GO) || message->count > 0)
        return false;
    if (message->number != sandbox->pause.number)
        return true;
    if (sandbox->state == SANDBOX_PAUSING && message->kind == PAUSE_STOP) {
        /* Who has it paused knows what is under way; the end of its life does not. */
        if (message->flags & PAUSE_HEARD ||
            (message->flags & PAUSE_UNDER_WAY && sandbox->pause.left <= 0.0))
            sandbox_heard(sandbox);
        if (!ev_is_active(&sandbox->pause.look))
            on_agent_waits(sandbox);
    } else if (sandbox->state == SANDBOX_RESUMING && message->kind == PAUSE_GO) {
        stop_waiting(sandbox);
        on_resumed(sandbox);
    }
    return true;
}

/* It runs on, and whenever its agent hears the word, it hears the other at once. */
static void give_up_pause(struct sandbox *sandbox) {
    struct sandbox_pause *pause = &sandbox->pause;
    /* Somebody may have asked meanwhile that it goes on, for so long. */
    int asked = has_waiter(sandbox, AWAIT_RUNNING) ? pause->seconds : 0;
    pause->held = pause->ran = false;
    if (pause->left <= 0.0 && asked == 0) {
        sandbox_end(sandbox, "its time is over, and it could not be paused", NULL, NULL);
        return;
    }
    if (pause->by_group)
        cgroup_freeze(sandbox->cgroup, false);
    send_word(sandbox, PAUSE_GO);
    sandbox_set_state(sandbox, SANDBOX_RUNNING, "it did not stand still in time");
    int timeout = sandbox->record.timeout;
    if (asked > pause->left) {
        sandbox_set_timeout(sandbox, asked);
    } else {
        sandbox_set_timeout(sandbox, (int)pause->left + 1);
        sandbox->record.timeout = timeout;
    }
    static const char late[] = "the sandbox did not stand still within 10 seconds: it runs on";
    tell(sandbox, AWAIT_HELD, sandbox, 504, late);
    tell(sandbox, AWAIT_PAUSED, sandbox, 504, late);
    tell(sandbox, AWAIT_RUNNING, sandbox, 0, NULL);
}

static void on_deadline(struct ev_loop *loop, ev_timer *timer, int events) {
    (void)loop, (void)events;
    struct sandbox *sandbox = timer->data;
    stop_waiting(sandbox);
    if (sandbox->state == SANDBOX_PAUSING)
        give_up_pause(sandbox);
    else
        sandbox_end(sandbox, "its agent did not go on", NULL, NULL);
}

void sandbox_pause_init(struct sandbox *sandbox) {
    struct sandbox_pause *pause = &sandbox->pause;
    ev_timer_init(&pause->look, on_look, 0.0, LOOK_INTERVAL);
    ev_timer_init(&pause->deadline, on_deadline, 0.0, 0.0);
    pause->look.data = pause->deadline.data = sandbox;
}

void sandbox_pause_close(struct sandbox *sandbox) {
    static const char ended[] = "the sandbox ended meanwhile";
    stop_waiting(sandbox);
    tell(sandbox, AWAIT_HELD, NULL, 404, ended);
    tell(sandbox, AWAIT_PAUSED, NULL, 404, ended);
    tell(sandbox, AWAIT_RUNNING, NULL, 404, ended);
}

void sandbox_pause_begin_asked(struct sandbox *sandbox) {
    if (sandbox->state == SANDBOX_RUNNING && has_waiter(sandbox, AWAIT_PAUSED))
        begin_pause(sandbox);
}

int sandbox_pause(struct sandbox *sandbox, sandbox_settled *settled, void *user, char *message,
                  size_t room) {
    bool stands = sandbox->state == SANDBOX_PAUSING || sandbox->state == SANDBOX_PAUSED;
    if (stands && !sandbox->pause.ran) {
        snprintf(message, room, "sandbox \"%s\" is paused already", sandbox->record.id);
        return 409;
    }
    if (add_waiter(sandbox, AWAIT_PAUSED, settled, user) < 0) {
        snprintf(message, room, "out of memory");
        return 503;
    }
    if (sandbox->state == SANDBOX_RUNNING)
        begin_pause(sandbox);
    return 0;
}

void sandbox_set_auto_pause(struct sandbox *sandbox, bool auto_pause) {
    sandbox->record.auto_pause = auto_pause;
}

int sandbox_resume(struct sandbox *sandbox, int seconds, sandbox_settled *settled, void *user,
                   char *message, size_t room) {
    if (add_waiter(sandbox, AWAIT_RUNNING, settled, user) < 0) {
        snprintf(message, room, "out of memory");
        return 503;
    }
    bool may_begin = sandbox->state == SANDBOX_PAUSED && !sandbox->pause.held;
    if (may_begin)
        sandbox->pause.seconds = 0;
    if (sandbox->pause.seconds < seconds)
        sandbox->pause.seconds = seconds;
    if (may_begin)
        begin_resume(sandbox);
    return 0;
}

/* For one that nobody has gone on by name. */
int sandbox_seconds_after_traffic(const struct sandbox *sandbox) {
    int timeout = sandbox->record.timeout;
    return timeout > LEAST_AFTER_TRAFFIC ? timeout : LEAST_AFTER_TRAFFIC;
}

void sandbox_heard(struct sandbox *sandbox) {
    char message[256];
    if (sandbox->record.auto_resume && !sandbox_is_running(sandbox) &&
        !sandbox_is_resuming(sandbox))
        sandbox_resume(sandbox, sandbox_seconds_after_traffic(sandbox), NULL, NULL, message,
                       sizeof message);
}

int sandbox_hold(struct sandbox *sandbox, sandbox_settled *settled, void *user, char *message,
                 size_t room) {
    struct sandbox_pause *pause = &sandbox->pause;
    if (pause->held || (sandbox->state != SANDBOX_RUNNING && sandbox->state != SANDBOX_PAUSED)) {
        snprintf(message, room, "sandbox \"%s\" is %s: try again when that is done",
                 sandbox->record.id,
                 pause->held                          ? "being made a snapshot of"
                 : sandbox->state == SANDBOX_RESUMING ? "being resumed"
                                                      : "being paused");
        return 409;
    }
    bool runs = sandbox->state == SANDBOX_RUNNING;
    if (runs && add_waiter(sandbox, AWAIT_HELD, settled, user) < 0) {
        snprintf(message, room, "out of memory");
        return 503;
    }
    pause->held = true;
    pause->ran = runs;
    if (runs)
        begin_pause(sandbox);
    else
        settled(sandbox, 0, NULL, user);
    return 0;
}

void sandbox_release_hold(struct sandbox *sandbox, sandbox_settled *settled, void *user) {
    struct sandbox_pause *pause = &sandbox->pause;
    bool is_held = sandbox->state == SANDBOX_PAUSED && pause->held;
    bool goes_on = is_held && (has_waiter(sandbox, AWAIT_RUNNING) ||
                               (pause->ran && !has_waiter(sandbox, AWAIT_PAUSED)));
    if (!goes_on || add_waiter(sandbox, AWAIT_RUNNING, settled, user) < 0) {
        if (settled)
            settled(sandbox, 0, NULL, user);
    }
    if (!is_held)
        return;
    pause->held = false;
    if (pause->ran && has_waiter(sandbox, AWAIT_PAUSED)) { /* a client wants it to stay so */
        pause->ran = false;
        show_paused(sandbox);
        tell(sandbox, AWAIT_PAUSED, sandbox, 0, NULL);
    } else if (pause->ran && pause->seconds < pause->left) {
        pause->seconds = (int)pause->left + 1;
    }
    if (goes_on && sandbox->state == SANDBOX_PAUSED)
        begin_resume(sandbox);
}
