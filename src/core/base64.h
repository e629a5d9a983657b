/*
 * base64.h - decoding of what the protocol carries as base64 (RFC 4648, standard alphabet).
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

#endif
