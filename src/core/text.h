/*
 * text.h - small questions about foreign text: is it UTF-8, may it stand in a header, a URL, a
 * message.
 */
#ifndef STEPBOX_CORE_TEXT_H
#define STEPBOX_CORE_TEXT_H

#include "buffer.h"
#include "stepbox.h"

/* Bytes of the valid UTF-8 sequence that `text` begins with, 0 when there is none in `left` bytes.
 */
size_t sbi_utf8_sequence(const char *text, size_t left);

/* The largest length <= limit at which no character of text is cut. */
size_t sbi_utf8_floor(const char *text, size_t limit);

/* Makes a NUL-terminated string printable UTF-8 in place: control characters become spaces, bytes
 * that are no UTF-8 become '?', a character cut at the end is dropped. */
void sbi_text_clean(char *text);

/* The beginning of foreign bytes, printable, for a message. Returns `out`. */
const char *sbi_text_excerpt(char *out, size_t size, const char *bytes, size_t length);

/* Appends text with everything but RFC 3986's unreserved characters as %XX. */
sb_code sbi_percent_encode(struct sbi_buffer *out, const char *text, size_t length);

/* What may be part of a host name and of a path: 1 to 128 of [A-Za-z0-9_-]. */
bool sbi_is_sandbox_id(const char *id);
/* Host name with an optional port: 1 to 255 of [A-Za-z0-9.:-]. */
bool sbi_is_domain(const char *domain);
/* Visible ASCII, spaces and tabs within; what cannot break out of a header line. */
bool sbi_is_header_value(const char *value);
bool sbi_is_header_name(const char *name);

#endif
