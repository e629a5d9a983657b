/* sandbox_words.c - takes what a sandbox's agent says on the control socket, which may be anything,
 * at any rate. */
#include "sandbox_internal.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "control_message.h"
#include "log.h"

/* Datagrams that are read until the engine turns away from an agent, and for how many seconds. */
#define WORDS_AT_ONCE 64
#define PAUSE 0.1

/* The first filter is the agent's own; nobody under it can install another one with a listener. */
static void take_listener(struct sandbox *sandbox, int fd) {
    if (sandbox->words.has_listener) {
        close(fd);
    } else if (refused_calls_add(sandbox->refused, fd) == 0) {
        sandbox->words.has_listener = true;
    } else {
        log_warn("sandbox %s: its refused calls cannot be counted: %s", sandbox->record.id,
                 strerror(errno));
    }
}

static void on_readable(struct ev_loop *loop, ev_io *io, int events) {
    (void)events;
    struct sandbox *sandbox = io->data;
    struct sandbox_words *words = &sandbox->words;
    if (ev_now(loop) - words->since > PAUSE) {
        words->since = ev_now(loop);
        words->left = WORDS_AT_ONCE;
    }
    if (words->left-- == 0) {
        ev_io_stop(loop, io);
        ev_timer_start(loop, &words->pause);
        return;
    }
    control_message message;
    control_connection listener;
    switch (control_message_receive(io->fd, &message)) {
    case CONTROL_OK:
        if (message.kind == CONTROL_LISTENER && control_socket_connection(&message, &listener))
            take_listener(sandbox, listener.fd);
        else if (!sandbox_pause_take(sandbox, &message) && !sandbox_runners_take(sandbox, &message))
            control_message_close(&message);
        break;
    case CONTROL_AGAIN:
        break;
    case CONTROL_ERROR:
        if (errno == EPROTO)
            break;
        /* fall through */
    case CONTROL_CLOSED:
        ev_io_stop(loop, io); /* that it has ended shows elsewhere */
    }
}

static void on_pause_over(struct ev_loop *loop, ev_timer *timer, int events) {
    (void)events;
    struct sandbox *sandbox = timer->data;
    sandbox->words.left = WORDS_AT_ONCE;
    ev_io_start(loop, &sandbox->words.readable);
}

void sandbox_words_open(struct sandbox *sandbox) {
    struct sandbox_words *words = &sandbox->words;
    *words = (struct sandbox_words){.left = WORDS_AT_ONCE};
    ev_io_init(&words->readable, on_readable, sandbox->link.control_fd, EV_READ);
    ev_timer_init(&words->pause, on_pause_over, PAUSE, 0.0);
    words->readable.data = words->pause.data = sandbox;
    ev_io_start(sandbox_loop(sandbox), &words->readable);
    sandbox_runners_open(sandbox);
}

void sandbox_words_close(struct sandbox *sandbox) {
    ev_io_stop(sandbox_loop(sandbox), &sandbox->words.readable);
    ev_timer_stop(sandbox_loop(sandbox), &sandbox->words.pause);
    sandbox_runners_close(sandbox);
}
