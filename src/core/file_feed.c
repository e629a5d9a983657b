#include "file_feed.h"

#include <stdlib.h>
#include <string.h>

struct sbi_feed_piece {
    struct sbi_feed_piece *next;
    size_t begin, length;
    char bytes[];
};

size_t sbi_feed_room(const struct sbi_feed *feed) {
    return feed->is_full || feed->has_ended ? 0 : SBI_FEED_ROOM - feed->waiting;
}

int sbi_feed_add(struct sbi_feed *feed, const char *bytes, size_t length) {
    if (length == 0) {
        return 0;
    }
    struct sbi_feed_piece *piece = malloc(sizeof *piece + length);
    if (piece == NULL) {
        return -1;
    }
    *piece = (struct sbi_feed_piece){.length = length};
    memcpy(piece->bytes, bytes, length);
    *(feed->last != NULL ? &feed->last->next : &feed->first) = piece;
    feed->last = piece;
    feed->waiting += length;
    feed->is_full |= feed->waiting >= SBI_FEED_ROOM;
    return 0;
}

static void drop_first(struct sbi_feed *feed) {
    struct sbi_feed_piece *piece = feed->first;
    feed->first = piece->next;
    if (feed->first == NULL) {
        feed->last = NULL;
    }
    free(piece);
}

size_t sbi_feed_take(struct sbi_feed *feed, char *bytes, size_t size, bool *has_room) {
    size_t taken = 0;
    while (taken < size && feed->first != NULL) {
        struct sbi_feed_piece *piece = feed->first;
        size_t left = piece->length - piece->begin;
        size_t count = left < size - taken ? left : size - taken;
        memcpy(bytes + taken, piece->bytes + piece->begin, count);
        piece->begin += count;
        taken += count;
        if (count == left) {
            drop_first(feed);
        }
    }
    feed->waiting -= taken;
    *has_room = feed->is_full && feed->waiting <= SBI_FEED_ROOM / 2;
    if (*has_room) {
        feed->is_full = false;
    }
    return taken;
}

void sbi_feed_free(struct sbi_feed *feed) {
    while (feed->first != NULL) {
        drop_first(feed);
    }
}
