#include "connect_frame.h"

#include <stdint.h>
#include <string.h>

#define KEEP (64u * 1024)

void sbi_frames_init(struct sbi_frames *frames, size_t max_payload) {
    *frames = (struct sbi_frames){0};
    sbi_buffer_init(&frames->payload, max_payload);
}

void sbi_frames_free(struct sbi_frames *frames) {
    sbi_buffer_free(&frames->payload);
}

void sbi_frame_header(unsigned char header[SBI_FRAME_HEADER], unsigned flags, size_t length) {
    header[0] = (unsigned char)flags;
    for (int i = 0; i < 4; i++) {
        header[1 + i] = (unsigned char)(length >> (24 - 8 * i));
    }
}

static void read_header(struct sbi_frames *frames, const char **bytes, size_t *left) {
    while (*left > 0 && frames->header_length < SBI_FRAME_HEADER) {
        frames->header[frames->header_length++] = (unsigned char)*(*bytes)++;
        --*left;
    }
}

static size_t payload_length(const struct sbi_frames *frames) {
    const unsigned char *h = frames->header;
    return (uint32_t)h[1] << 24 | (uint32_t)h[2] << 16 | (uint32_t)h[3] << 8 | h[4];
}

static enum sbi_parse hand_out(struct sbi_frames *frames, const char *payload, size_t length,
                               struct sbi_frame *frame) {
    *frame = (struct sbi_frame){frames->header[0], payload, length};
    frames->header_length = 0;
    return SBI_PARSE_ITEM;
}

enum sbi_parse sbi_frames_next(struct sbi_frames *frames, const char **bytes, size_t *left,
                               struct sbi_frame *frame) {
    if (frames->is_handed_out) {
        sbi_buffer_clear(&frames->payload, KEEP);
        frames->is_handed_out = false;
    }
    read_header(frames, bytes, left);
    if (frames->header_length < SBI_FRAME_HEADER) {
        return SBI_PARSE_MORE;
    }
    size_t length = payload_length(frames);
    if (length > frames->payload.max) {
        return SBI_PARSE_TOO_LARGE;
    }
    size_t wanted = length - frames->payload.length;
    size_t used = wanted < *left ? wanted : *left;
    const char *begin = *bytes;
    *bytes += used;
    *left -= used;
    if (used == length) {
        return hand_out(frames, begin, length, frame);
    }
    if (sbi_buffer_append(&frames->payload, begin, used) != SB_OK) {
        return SBI_PARSE_NO_MEMORY;
    }
    if (used < wanted) {
        return SBI_PARSE_MORE;
    }
    frames->is_handed_out = true;
    return hand_out(frames, frames->payload.data, length, frame);
}

bool sbi_frames_are_between(const struct sbi_frames *frames) {
    return frames->header_length == 0;
}
