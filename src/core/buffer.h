/*
 * buffer.h - bytes that grow up to a bound.
 */
#ifndef STEPBOX_CORE_BUFFER_H
#define STEPBOX_CORE_BUFFER_H

#include "stepbox.h"

/* data is NULL while nothing was ever appended, else NUL-terminated behind its length. */
struct sbi_buffer {
    char *data;
    size_t length, capacity;
    size_t max; /* bytes; an append that would go beyond fails and changes nothing */
};

void sbi_buffer_init(struct sbi_buffer *buffer, size_t max);
void sbi_buffer_free(struct sbi_buffer *buffer); /* back to empty, same bound */

/* Each returns SB_OK, SB_TOO_LARGE (the bound) or SB_SYSTEM (memory). */
sb_code sbi_buffer_append(struct sbi_buffer *buffer, const void *bytes, size_t length);
sb_code sbi_buffer_append_string(struct sbi_buffer *buffer, const char *string);
/* Makes room for `more` bytes behind the length. */
sb_code sbi_buffer_reserve(struct sbi_buffer *buffer, size_t more);

/* Empties it; the memory is kept unless it is more than `keep` bytes. */
void sbi_buffer_clear(struct sbi_buffer *buffer, size_t keep);

/* The bytes, "" when there are none. */
const char *sbi_buffer_string(const struct sbi_buffer *buffer);

/* The bytes as malloc()ed memory, the caller's to free; the buffer is empty afterwards. NULL:
 * empty. */
char *sbi_buffer_take(struct sbi_buffer *buffer);

#endif
