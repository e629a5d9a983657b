/* pause.c - see pause.h */
#include "pause.h"

#include "log.h"
#include "pause_message.h"
#include "process_list.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>

/* How often, and how many milliseconds apart, processes are told to stop that go on. */
#define ROUNDS_MAX 1000
#define ROUND_MILLISECONDS 1

/* Whether one can run now or later. One in D, such as the parent of a vfork, stops when it is out
 * of that; until then it runs no code. */
static bool any_goes_on(const struct process_list *all) {
    for (size_t i = 0; i < all->count; i++) {
        if (all->items[i].state == 'R' || all->items[i].state == 'S')
            return true;
    }
    return false;
}

/* The kernel sends a signal to "all others" in one go with forks: none escapes. But one that is
 * just sending SIGCONT to everybody takes the signal from those who have not stopped yet: they are
 * told until all stand still. */
static void tell_all(void) {
    struct process_list all = {0};
    bool goes_on = true;
    for (int round = 0; goes_on && round < ROUNDS_MAX; round++) {
        kill(-1, SIGSTOP);
        process_list_read(&all);
        goes_on = any_goes_on(&all);
        if (goes_on)
            poll(NULL, 0, ROUND_MILLISECONDS);
    }
    if (goes_on)
        log_warn("some processes of a sandbox that pauses do not stand still");
    process_list_free(&all);
}

/* Remembers in `stopped` what the code has stopped by itself (its jobs): those stay so. */
static void stop_all(struct process_list *stopped) {
    process_list_read(stopped);
    size_t kept = 0;
    for (size_t i = 0; i < stopped->count; i++) {
        if (stopped->items[i].state == 'T')
            stopped->items[kept++] = stopped->items[i];
    }
    stopped->count = kept;
    tell_all();
}

/* The youngest first: a shell that looked for stopped children must find them running again. */
static void wake_all(const struct process_list *stopped) {
    struct process_list all = {0};
    process_list_read(&all);
    for (size_t i = all.count; i-- > 0;) {
        if (!process_list_find(stopped, all.items[i].pid))
            kill(all.items[i].pid, SIGCONT);
    }
    process_list_free(&all);
}

static void echo(int control_fd, const control_message *word) {
    while (control_message_send(control_fd, word) == CONTROL_AGAIN) {
        struct pollfd room = {.fd = control_fd, .events = POLLOUT};
        poll(&room, 1, -1);
    }
}

struct pause {
    int control_fd;
    bool ours; /* we have stopped the processes */
    struct process_list stopped;
};

static void follow_pause(struct pause *pause, const control_message *word) {
    if (!(word->flags & PAUSE_FROZEN) && !pause->ours) {
        stop_all(&pause->stopped);
        pause->ours = true;
    }
    echo(pause->control_fd, word);
}

/* Waits for PAUSE_GO, into *word. False when the engine has gone. */
static bool wait_for_resume(struct pause *pause, control_message *word, pause_take *take,
                            void *user) {
    for (;;) {
        control_message next;
        struct pollfd ready = {.fd = pause->control_fd, .events = POLLIN};
        control_result result = control_message_receive(pause->control_fd, &next);
        if (result == CONTROL_AGAIN) {
            poll(&ready, 1, -1);
        } else if (result == CONTROL_CLOSED || (result == CONTROL_ERROR && errno != EPROTO)) {
            return false;
        } else if (result == CONTROL_OK && next.kind == PAUSE_GO) {
            *word = next;
            return true;
        } else if (result == CONTROL_OK && next.kind == PAUSE_STOP) {
            follow_pause(pause, &next); /* where the engine cannot freeze the processes after all */
        } else if (result == CONTROL_OK) {
            take(&next, user);
        }
    }
}

bool pause_follow(struct ev_loop *loop, int control_fd, const control_message *word,
                  pause_take *take, void *user) {
    struct pause pause = {.control_fd = control_fd};
    control_message resume;
    ev_suspend(loop);
    follow_pause(&pause, word);
    bool goes_on = wait_for_resume(&pause, &resume, take, user);
    ev_resume(loop);
    if (goes_on) {
        if (pause.ours)
            wake_all(&pause.stopped);
        echo(control_fd, &resume);
    }
    process_list_free(&pause.stopped);
    return goes_on;
}
