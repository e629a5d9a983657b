#include "process_event.h"

#include <string.h>

struct reader {
    const char *at, *end;
};

/* Servers differ in the spaces they write, some on purpose. */
static bool read_token(struct reader *reader, const char *token) {
    while (reader->at < reader->end && (*reader->at == ' ' || *reader->at == '\n')) {
        reader->at++;
    }
    size_t length = strlen(token);
    if ((size_t)(reader->end - reader->at) < length || memcmp(reader->at, token, length) != 0) {
        return false;
    }
    reader->at += length;
    return true;
}

static bool read_all(struct reader *reader, const char *const *tokens, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (!read_token(reader, tokens[i])) {
            return false;
        }
    }
    return true;
}

static sb_stream read_stream(struct reader *reader) {
    return read_token(reader, "\"stdout\"")   ? SB_STDOUT
           : read_token(reader, "\"stderr\"") ? SB_STDERR
           : read_token(reader, "\"pty\"")    ? SB_PTY
                                              : 0;
}

bool sbi_process_data_read(const char *json, size_t length, struct sbi_process_data *out) {
    static const char *const before[] = {"{", "\"event\"", ":", "{", "\"data\"", ":", "{"};
    static const char *const between[] = {":", "\""};
    static const char *const behind[] = {"\"", "}", "}", "}"};
    struct reader reader = {json, json + length};
    if (!read_all(&reader, before, sizeof before / sizeof *before) ||
        (out->stream = read_stream(&reader)) == 0 ||
        !read_all(&reader, between, sizeof between / sizeof *between)) {
        return false;
    }
    out->text = reader.at;
    const char *quote = memchr(reader.at, '"', (size_t)(reader.end - reader.at));
    if (quote == NULL) {
        return false;
    }
    out->length = (size_t)(quote - reader.at);
    reader.at = quote;
    return read_all(&reader, behind, sizeof behind / sizeof *behind) && reader.at == reader.end;
}
