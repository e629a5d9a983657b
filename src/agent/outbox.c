#include "outbox.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

static void drop(struct outbox *outbox) {
    ev_io_stop(outbox->loop, &outbox->writable);
    free(outbox->bytes);
    outbox->bytes = NULL;
    outbox->sent = outbox->length = 0;
}

static void flush(struct outbox *outbox) {
    while (outbox->sent < outbox->length && outbox->writable.fd >= 0) {
        ssize_t sent = send(outbox->writable.fd, outbox->bytes + outbox->sent,
                            outbox->length - outbox->sent, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent >= 0) {
            outbox->sent += (size_t)sent;
        } else if (errno == EAGAIN) {
            ev_io_start(outbox->loop, &outbox->writable);
            return;
        } else if (errno != EINTR) {
            break; /* who reads from the socket sees its end too */
        }
    }
    drop(outbox);
}

static void on_writable(struct ev_loop *loop, struct ev_io *io, int events) {
    (void)loop, (void)events;
    flush(io->data);
}

void outbox_init(struct outbox *outbox, struct ev_loop *loop) {
    *outbox = (struct outbox){.loop = loop};
    ev_io_init(&outbox->writable, on_writable, -1, EV_WRITE);
    outbox->writable.data = outbox;
}

void outbox_open(struct outbox *outbox, int fd) {
    ev_io_set(&outbox->writable, fd, EV_WRITE);
}

int outbox_send(struct outbox *outbox, json_t *message) {
    size_t length = message ? json_dumpb(message, NULL, 0, JSON_ENSURE_ASCII | JSON_COMPACT) : 0;
    size_t waiting = outbox->length - outbox->sent;
    char *bytes = length ? malloc(waiting + length + 1) : NULL;
    if (bytes) {
        if (waiting)
            memcpy(bytes, outbox->bytes + outbox->sent, waiting);
        json_dumpb(message, bytes + waiting, length, JSON_ENSURE_ASCII | JSON_COMPACT);
        bytes[waiting + length] = '\n';
        free(outbox->bytes);
        outbox->bytes = bytes;
        outbox->length = waiting + length + 1;
        outbox->sent = 0;
        flush(outbox);
    }
    json_decref(message);
    return bytes ? 0 : -1;
}

void outbox_close(struct outbox *outbox) {
    drop(outbox);
    outbox->writable.fd = -1;
}
