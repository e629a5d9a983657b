/*
 * connect_frames.h - the frames of a Connect stream that arrives piece by piece.
 */
#ifndef STEPBOX_CONNECT_FRAMES_H
#define STEPBOX_CONNECT_FRAMES_H

#include <stdbool.h>
#include <stddef.h>

#define CONNECT_FRAME_HEAD 5

typedef struct connect_frames {
    size_t max; /* bytes of the longest message that is taken */
    unsigned char head[CONNECT_FRAME_HEAD];
    size_t head_length;
    char *message; /* NUL-terminated; whole when that was answered, until the next call */
    size_t length, capacity, have;
} connect_frames;

typedef enum connect_frames_result {
    CONNECT_FRAMES_MORE,  /* all bytes were used, and no message is whole */
    CONNECT_FRAMES_WHOLE, /* there is a message; the bytes behind it were not used */
    CONNECT_FRAMES_FLAGS, /* it is compressed, or no message */
    CONNECT_FRAMES_LARGE,
    CONNECT_FRAMES_MEMORY
} connect_frames_result;

/* Takes bytes, *used of them. After one of the last three results nothing more can be taken. */
connect_frames_result connect_frames_take(connect_frames *frames, const char *bytes, size_t length,
                                          size_t *used);
/* Whether a frame has begun that is not whole. */
bool connect_frames_within(const connect_frames *frames);
void connect_frames_free(connect_frames *frames);

#endif
