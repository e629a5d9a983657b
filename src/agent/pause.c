/* pause.c - see pause.h */
#include "pause.h"

#include "pause_message.h"
#include "process_list.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>

/* Remembers in `stopped` what the code has stopped by itself (its jobs): those stay so. The kernel
 * sends a signal to "all others" in one go with forks: none escapes, and nothing begins any more.
 */
static void stop_all(struct process_list *stopped) {
    process_list_read(stopped);
    size_t kept = 0;
    for (size_t i = 0; i < stopped->count; i++) {
        if (stopped->items[i].state == 'T')
            stopped->items[kept++] = stopped->items[i];
    }
    stopped->count = kept;
    kill(-1, SIGSTOP);
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
