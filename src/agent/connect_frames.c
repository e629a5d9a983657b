/* connect_frames.c - see connect_frames.h */
#include "connect_frames.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* A message's buffer grows with what arrives of it, not with what its frame says. */
#define CAPACITY_MIN 4096
/* A larger buffer is given back after its message. */
#define CAPACITY_KEPT (256 * 1024)

static size_t smaller(size_t a, size_t b) {
    return a < b ? a : b;
}

/* The head is complete: what does it announce? */
static connect_frames_result begin(connect_frames *frames) {
    const unsigned char *head = frames->head;
    frames->length = (size_t)((uint32_t)head[1] << 24 | (uint32_t)head[2] << 16 |
                              (uint32_t)head[3] << 8 | head[4]);
    frames->have = 0;
    if (head[0] != 0)
        return CONNECT_FRAMES_FLAGS;
    return frames->length > frames->max ? CONNECT_FRAMES_LARGE : CONNECT_FRAMES_MORE;
}

/* Makes room for more of the message, and a NUL. */
static bool reserve(connect_frames *frames, size_t more) {
    size_t need = frames->have + more + 1;
    if (need <= frames->capacity)
        return true;
    size_t capacity = frames->capacity ? frames->capacity * 2 : CAPACITY_MIN;
    if (capacity < need)
        capacity = need;
    char *grown = realloc(frames->message, capacity);
    if (!grown)
        return false;
    frames->message = grown;
    frames->capacity = capacity;
    return true;
}

static void forget_last(connect_frames *frames) {
    frames->head_length = 0;
    if (frames->capacity > CAPACITY_KEPT)
        connect_frames_free(frames);
}

connect_frames_result connect_frames_take(connect_frames *frames, const char *bytes, size_t length,
                                          size_t *used) {
    *used = 0;
    if (frames->head_length == CONNECT_FRAME_HEAD && frames->have == frames->length)
        forget_last(frames);
    if (frames->head_length < CONNECT_FRAME_HEAD) {
        *used = smaller(length, CONNECT_FRAME_HEAD - frames->head_length);
        memcpy(frames->head + frames->head_length, bytes, *used);
        frames->head_length += *used;
        if (frames->head_length < CONNECT_FRAME_HEAD)
            return CONNECT_FRAMES_MORE;
        connect_frames_result result = begin(frames);
        if (result != CONNECT_FRAMES_MORE)
            return result;
    }
    size_t part = smaller(length - *used, frames->length - frames->have);
    if (!reserve(frames, part))
        return CONNECT_FRAMES_MEMORY;
    memcpy(frames->message + frames->have, bytes + *used, part);
    frames->have += part;
    frames->message[frames->have] = '\0';
    *used += part;
    return frames->have == frames->length ? CONNECT_FRAMES_WHOLE : CONNECT_FRAMES_MORE;
}

bool connect_frames_within(const connect_frames *frames) {
    return frames->head_length > 0 &&
           (frames->head_length < CONNECT_FRAME_HEAD || frames->have < frames->length);
}

void connect_frames_free(connect_frames *frames) {
    free(frames->message);
    frames->message = NULL;
    frames->capacity = 0;
}
