/*
 * output_encoder.h - bytes that code wrote, as the inside of a JSON string in ASCII.
 *
 * A UTF-8 character may be split over calls; what is not UTF-8 becomes U+FFFD, one for each maximal
 * prefix of a character, as Python's "replace" does it.
 */
#ifndef STEPBOX_OUTPUT_ENCODER_H
#define STEPBOX_OUTPUT_ENCODER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What one byte of input can become at most: U+FFFD for the character it breaks, and itself; or a
 * surrogate pair. */
#define OUTPUT_ENCODER_MAX 12

/* Starts zeroed. */
typedef struct output_encoder {
    uint32_t code;     /* of the character that is not complete */
    int missing;       /* bytes it still needs */
    uint8_t low, high; /* what the next of them may be */
} output_encoder;

/* Encodes bytes while at least OUTPUT_ENCODER_MAX of `room` are left; returns how many were taken
 * and adds what it wrote to *written. */
size_t output_encode(output_encoder *encoder, const char *bytes, size_t length, char *to,
                     size_t room, size_t *written);

/* No more bytes come: an incomplete character becomes U+FFFD. Writes at most OUTPUT_ENCODER_MAX;
 * returns how many. */
size_t output_encode_end(output_encoder *encoder, char *to);

#endif
