/* wire.c - see wire.h */
#include "wire.h"

#include "high_descriptor.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define READ_SIZE ((size_t)64 * 1024)
/* Above what a program that closes "all" descriptors up to some round number usually hits. */
#define HIGHEST_WANTED 1000

int wire_open(struct wire *wire, int fd) {
    *wire = (struct wire){.fd = high_descriptor(fd, HIGHEST_WANTED)};
    if (wire->fd < 0)
        return -1;
    close(fd);
    return 0;
}

static bool make_room(struct wire *wire) {
    if (wire->taken) {
        wire->length -= wire->taken;
        wire->scanned -= wire->taken;
        memmove(wire->bytes, wire->bytes + wire->taken, wire->length);
        wire->taken = 0;
    }
    if (wire->room - wire->length > READ_SIZE)
        return true;
    if (wire->length > WIRE_LINE_MAX)
        return false;
    size_t room = wire->length * 2 + 2 * READ_SIZE;
    char *bytes = realloc(wire->bytes, room);
    if (!bytes)
        return false;
    wire->bytes = bytes;
    wire->room = room;
    return true;
}

bool wire_fill(struct wire *wire) {
    ssize_t got;
    if (!make_room(wire))
        return false;
    do
        got = recv(wire->fd, wire->bytes + wire->length, wire->room - wire->length, 0);
    while (got < 0 && errno == EINTR);
    if (got > 0)
        wire->length += (size_t)got;
    return got > 0;
}

char *wire_next(struct wire *wire, size_t *length) {
    char *end = wire->length > wire->scanned
                    ? memchr(wire->bytes + wire->scanned, '\n', wire->length - wire->scanned)
                    : NULL;
    if (!end) {
        wire->scanned = wire->length;
        if (wire->length == wire->taken && wire->room > 16 * READ_SIZE) {
            free(wire->bytes); /* the memory of a large step is not kept */
            *wire = (struct wire){.fd = wire->fd};
        }
        return NULL;
    }
    char *line = wire->bytes + wire->taken;
    *end = '\0';
    *length = (size_t)(end - line);
    wire->taken = wire->scanned = (size_t)(end + 1 - wire->bytes);
    return line;
}

void wire_send(const struct wire *wire, const char *bytes, size_t length) {
    while (length) {
        ssize_t sent = send(wire->fd, bytes, length, MSG_NOSIGNAL);
        if (sent < 0 && errno != EINTR)
            return;
        if (sent > 0) {
            bytes += sent;
            length -= (size_t)sent;
        }
    }
}
