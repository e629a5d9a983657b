/*
 * connect_frame.h - messages of the Connect protocol's streams: a byte of flags, four of length
 * (big endian), and a payload, here of JSON.
 */
#ifndef STEPBOX_CORE_CONNECT_FRAME_H
#define STEPBOX_CORE_CONNECT_FRAME_H

#include "buffer.h"
#include "parse.h"

#define SBI_FRAME_HEADER 5
#define SBI_FRAME_COMPRESSED 1
#define SBI_FRAME_END 2

struct sbi_frame {
    unsigned flags;
    const char *payload; /* into the parser or its input, until the next call */
    size_t length;
};

struct sbi_frames {
    unsigned char header[SBI_FRAME_HEADER];
    size_t header_length;
    struct sbi_buffer payload; /* of a frame that comes in pieces; its max bounds payloads */
    bool is_handed_out;
};

void sbi_frames_init(struct sbi_frames *frames, size_t max_payload);
void sbi_frames_free(struct sbi_frames *frames);

enum sbi_parse sbi_frames_next(struct sbi_frames *frames, const char **bytes, size_t *left,
                               struct sbi_frame *frame);

/* True between two frames: a stream that ends elsewhere was cut. */
bool sbi_frames_are_between(const struct sbi_frames *frames);

/* Writes the header of a frame. */
void sbi_frame_header(unsigned char header[SBI_FRAME_HEADER], unsigned flags, size_t length);

#endif
