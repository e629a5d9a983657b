/*
 * file_feed.h - bytes that a host gives piece by piece, on their way into a request.
 */
#ifndef STEPBOX_CORE_FILE_FEED_H
#define STEPBOX_CORE_FILE_FEED_H

#include "stepbox.h"

#include <sys/types.h>

/* Bytes that may wait before the host is asked to hold back. */
#define SBI_FEED_ROOM (1024u * 1024)

struct sbi_feed_piece;

struct sbi_feed {
    struct sbi_feed_piece *first, *last;
    size_t waiting; /* bytes */
    bool has_ended;
    bool is_full; /* there was no room, and has not been much since */
};

size_t sbi_feed_room(const struct sbi_feed *feed);

/* Copies the bytes. -1 without memory. */
int sbi_feed_add(struct sbi_feed *feed, const char *bytes, size_t length);

/* At most `size` bytes; 0: none wait. *has_room: there is room again. */
size_t sbi_feed_take(struct sbi_feed *feed, char *bytes, size_t size, bool *has_room);

void sbi_feed_free(struct sbi_feed *feed);

#endif
