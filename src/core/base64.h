/*
 * base64.h - what the protocol carries as base64 (RFC 4648, standard alphabet).
 */
#ifndef STEPBOX_CORE_BASE64_H
#define STEPBOX_CORE_BASE64_H

#include <stddef.h>
#include <sys/types.h>

/* Room that decoding `length` characters can need. */
size_t sbi_base64_room(size_t length);

/* Decodes; white space between characters is allowed, padding may be missing. Returns the bytes
 * written to `out` (sbi_base64_room() of them fit), or -1 when it is no base64. */
ssize_t sbi_base64_decode(const char *text, size_t length, unsigned char *out);

/* Writes the characters and a NUL behind them; returns how many they are. out has room for
 * sbi_base64_length() and the NUL. */
size_t sbi_base64_encode(const void *bytes, size_t length, char *out);
size_t sbi_base64_length(size_t length);

#endif
