/* base64_encode.h - bytes as text, with padding. */
#ifndef STEPBOX_BASE64_ENCODE_H
#define STEPBOX_BASE64_ENCODE_H

#include <stddef.h>

#define BASE64_SIZE(length) (((length) + 2) / 3 * 4)

/* Writes BASE64_SIZE(length) characters, without a NUL. */
void base64_encode(const unsigned char *bytes, size_t length, char *to);

#endif
