/* base64_decode.h - the bytes of a text that somebody sent. */
#ifndef STEPBOX_BASE64_DECODE_H
#define STEPBOX_BASE64_DECODE_H

#include <stddef.h>
#include <sys/types.h>

/* Room that is enough for the bytes of `length` characters. */
#define BASE64_DECODED_SIZE(length) (((length) + 3) / 4 * 3)

/* Both alphabets (RFC 4648, 4 and 5) and texts without padding are taken, as the JSON of protobuf
 * wants it; nothing else is. Returns how many bytes, or -1. */
ssize_t base64_decode(const char *text, size_t length, unsigned char *to);

#endif
