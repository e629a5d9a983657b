#include "buffer.h"

#include <stdlib.h>
#include <string.h>

void sbi_buffer_init(struct sbi_buffer *buffer, size_t max) {
    *buffer = (struct sbi_buffer){.max = max};
}

void sbi_buffer_free(struct sbi_buffer *buffer) {
    free(buffer->data);
    sbi_buffer_init(buffer, buffer->max);
}

sb_code sbi_buffer_reserve(struct sbi_buffer *buffer, size_t more) {
    if (more > buffer->max - buffer->length) {
        return SB_TOO_LARGE;
    }
    size_t needed = buffer->length + more + 1;
    if (needed <= buffer->capacity) {
        return SB_OK;
    }
    /* Doubling keeps the copying linear in what is appended. */
    size_t capacity = buffer->capacity < 32 ? 64 : buffer->capacity;
    while (capacity < needed) {
        capacity *= 2;
    }
    if (capacity > buffer->max + 1) {
        capacity = buffer->max + 1;
    }
    char *data = realloc(buffer->data, capacity);
    if (data == NULL) {
        return SB_SYSTEM;
    }
    data[buffer->length] = '\0';
    buffer->data = data;
    buffer->capacity = capacity;
    return SB_OK;
}

sb_code sbi_buffer_append(struct sbi_buffer *buffer, const void *bytes, size_t length) {
    sb_code code = sbi_buffer_reserve(buffer, length);
    if (code != SB_OK) {
        return code;
    }
    if (length > 0) {
        memcpy(buffer->data + buffer->length, bytes, length);
    }
    buffer->length += length;
    buffer->data[buffer->length] = '\0';
    return SB_OK;
}

sb_code sbi_buffer_append_string(struct sbi_buffer *buffer, const char *string) {
    return sbi_buffer_append(buffer, string, strlen(string));
}

void sbi_buffer_clear(struct sbi_buffer *buffer, size_t keep) {
    if (buffer->capacity > keep) {
        sbi_buffer_free(buffer);
        return;
    }
    buffer->length = 0;
    if (buffer->data != NULL) {
        buffer->data[0] = '\0';
    }
}

const char *sbi_buffer_string(const struct sbi_buffer *buffer) {
    return buffer->data != NULL ? buffer->data : "";
}

char *sbi_buffer_take(struct sbi_buffer *buffer) {
    char *data = buffer->data;
    sbi_buffer_init(buffer, buffer->max);
    return data;
}
