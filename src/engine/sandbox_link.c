/* sandbox_link.c - hands connections to a sandbox's agent. */
#include "sandbox_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "control_message.h"
#include "log.h"

/* An agent that is too busy to take this many is not going to. */
#define MAX_WAITING 512
/* Seconds until the next try when the control socket is full. The kernel also says so when too many
 * descriptors are on their way anywhere, for which there is no event to wait for. */
#define RETRY_AFTER 0.005

struct waiting_message {
    struct waiting_message *next;
    control_message message;
};

static void start_retry(struct sandbox *sandbox) {
    ev_timer_set(&sandbox->link.retry, RETRY_AFTER, 0.0);
    ev_timer_start(sandbox_loop(sandbox), &sandbox->link.retry);
}

static void on_retry(struct ev_loop *loop, ev_timer *timer, int events) {
    (void)loop, (void)events;
    struct sandbox *sandbox = timer->data;
    struct sandbox_link *link = &sandbox->link;
    while (link->first) {
        struct waiting_message *waiting = link->first;
        control_result result = control_message_send(link->control_fd, &waiting->message);
        if (result == CONTROL_AGAIN) {
            start_retry(sandbox);
            return;
        }
        if (result != CONTROL_OK)
            log_debug("sandbox %s does not take connections: %s", sandbox->record.id,
                      strerror(errno));
        link->first = waiting->next;
        link->waiting--;
        control_message_close(&waiting->message); /* whoever waits on it sees its end */
        free(waiting);
    }
    link->last = NULL;
}

void sandbox_link_open(struct sandbox *sandbox, int control_fd) {
    sandbox->link = (struct sandbox_link){.control_fd = control_fd};
    ev_timer_init(&sandbox->link.retry, on_retry, RETRY_AFTER, 0.0);
    sandbox->link.retry.data = sandbox;
    sandbox_words_open(sandbox);
}

static int enqueue(struct sandbox *sandbox, const control_message *message) {
    struct sandbox_link *link = &sandbox->link;
    struct waiting_message *waiting = link->waiting < MAX_WAITING ? malloc(sizeof *waiting) : NULL;
    if (!waiting)
        return -1;
    *waiting = (struct waiting_message){NULL, *message};
    if (link->last)
        link->last->next = waiting;
    else
        link->first = waiting;
    link->last = waiting;
    link->waiting++;
    if (!ev_is_active(&link->retry))
        start_retry(sandbox);
    return 0;
}

int sandbox_link_send_message(struct sandbox *sandbox, control_message *message) {
    control_result result = sandbox->link.first ? CONTROL_AGAIN : CONTROL_CLOSED;
    if (!sandbox->link.first && sandbox->link.control_fd >= 0)
        result = control_message_send(sandbox->link.control_fd, message);
    if (result == CONTROL_AGAIN && enqueue(sandbox, message) == 0)
        return 0;
    control_message_close(message);
    return result == CONTROL_OK ? 0 : -1;
}

int sandbox_link_send(struct sandbox *sandbox, int fd, uint16_t port, uint8_t flags) {
    control_message message;
    control_socket_message(&(control_connection){.fd = fd, .port = port, .flags = flags}, &message);
    return sandbox_link_send_message(sandbox, &message);
}

void sandbox_link_close(struct sandbox *sandbox) {
    struct sandbox_link *link = &sandbox->link;
    sandbox_words_close(sandbox);
    ev_timer_stop(sandbox_loop(sandbox), &link->retry);
    while (link->first) {
        struct waiting_message *waiting = link->first;
        link->first = waiting->next;
        control_message_close(&waiting->message);
        free(waiting);
    }
    link->last = NULL;
    link->waiting = 0;
    if (link->control_fd >= 0)
        close(link->control_fd);
    link->control_fd = -1;
}

int sandbox_connect(struct sandbox *sandbox, int fd, uint16_t port, bool announce) {
    return sandbox_link_send(sandbox, fd, port, announce ? CONTROL_ANNOUNCE : 0);
}
