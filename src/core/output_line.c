#include "output_line.h"

#include <stdint.h>
#include <string.h>

struct reader {
    const char *at, *end;
};

struct slice {
    const char *text;
    size_t length;
};

static void skip_space(struct reader *reader) {
    while (reader->at < reader->end &&
           (*reader->at == ' ' || *reader->at == '\t' || *reader->at == '\r')) {
        reader->at++;
    }
}

static bool read_character(struct reader *reader, char c) {
    skip_space(reader);
    if (reader->at == reader->end || *reader->at != c) {
        return false;
    }
    reader->at++;
    return true;
}

/* A string of ASCII, between its quotes. Escapes are only stepped over. */
static bool read_string(struct reader *reader, struct slice *string) {
    if (!read_character(reader, '"')) {
        return false;
    }
    const char *begin = reader->at;
    for (; reader->at < reader->end; reader->at++) {
        unsigned char c = (unsigned char)*reader->at;
        if (c == '"') {
            *string = (struct slice){begin, (size_t)(reader->at - begin)};
            reader->at++;
            return true;
        }
        if (c == '\\') {
            reader->at++;
            if (reader->at == reader->end) {
                return false;
            }
            c = (unsigned char)*reader->at;
        }
        if (c < 0x20 || c > 0x7E) {
            return false;
        }
    }
    return false;
}

static bool is(const struct slice *slice, const char *text) {
    return slice->length == strlen(text) && memcmp(slice->text, text, slice->length) == 0;
}

static bool read_member(struct reader *reader, struct sbi_output_line *out) {
    struct slice key, value;
    if (!read_string(reader, &key) || !read_character(reader, ':') ||
        !read_string(reader, &value)) {
        return false;
    }
    if (is(&key, "type") && out->stream == 0) {
        if (is(&value, "stdout")) {
            out->stream = SB_STDOUT;
        } else if (is(&value, "stderr")) {
            out->stream = SB_STDERR;
        }
        return out->stream != 0;
    }
    if (is(&key, "text") && out->text == NULL) {
        out->text = value.text;
        out->text_length = value.length;
        return true;
    }
    if (is(&key, "timestamp") && out->timestamp == NULL) {
        out->timestamp = value.text;
        out->timestamp_length = value.length;
        /* No time has escapes, and nobody would look whether they are any. */
        return memchr(value.text, '\\', value.length) == NULL;
    }
    return false;
}

bool sbi_output_line_read(const char *line, size_t length, struct sbi_output_line *out) {
    struct reader reader = {line, line + length};
    *out = (struct sbi_output_line){0};
    if (!read_character(&reader, '{')) {
        return false;
    }
    do {
        if (!read_member(&reader, out)) {
            return false;
        }
    } while (read_character(&reader, ','));
    if (!read_character(&reader, '}')) {
        return false;
    }
    skip_space(&reader);
    return reader.at == reader.end && out->stream != 0 && out->text != NULL;
}

/* The four digits of a \u escape, or -1. */
static int32_t read_hex(const char *text, size_t left) {
    int32_t value = 0;
    if (left < 4) {
        return -1;
    }
    for (int i = 0; i < 4; i++) {
        char c = text[i];
        int digit = c >= '0' && c <= '9'   ? c - '0'
                    : c >= 'a' && c <= 'f' ? c - 'a' + 10
                    : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                           : -1;
        if (digit < 0) {
            return -1;
        }
        value = value * 16 + digit;
    }
    return value;
}

static bool is_high(int32_t unit) {
    return unit >= 0xD800 && unit <= 0xDBFF;
}

static bool is_low(int32_t unit) {
    return unit >= 0xDC00 && unit <= 0xDFFF;
}

/* The low half that follows the escape of a high one at text ("\uD83D", six bytes), or -1. */
static int32_t low_behind(const char *text, size_t left) {
    if (left < 12 || text[6] != '\\' || text[7] != 'u') {
        return -1;
    }
    int32_t low = read_hex(text + 8, left - 8);
    return is_low(low) ? low : -1;
}

static size_t write_utf8(char *out, int32_t c) {
    if (c < 0x80) {
        out[0] = (char)c;
        return 1;
    }
    if (c < 0x800) {
        out[0] = (char)(0xC0 | c >> 6);
        out[1] = (char)(0x80 | (c & 0x3F));
        return 2;
    }
    if (c < 0x10000) {
        out[0] = (char)(0xE0 | c >> 12);
        out[1] = (char)(0x80 | (c >> 6 & 0x3F));
        out[2] = (char)(0x80 | (c & 0x3F));
        return 3;
    }
    out[0] = (char)(0xF0 | c >> 18);
    out[1] = (char)(0x80 | (c >> 12 & 0x3F));
    out[2] = (char)(0x80 | (c >> 6 & 0x3F));
    out[3] = (char)(0x80 | (c & 0x3F));
    return 4;
}

/* Writes the character that a \u escape at text stands for; returns the bytes of the escape, 0 when
 * it is none. */
static size_t unescape_unicode(const char *text, size_t left, char **out) {
    int32_t unit = read_hex(text + 2, left - 2);
    if (unit < 0) {
        return 0;
    }
    int32_t low = is_high(unit) ? low_behind(text, left) : -1;
    if (low >= 0) {
        *out += write_utf8(*out, 0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00));
        return 12;
    }
    *out += write_utf8(*out, is_high(unit) || is_low(unit) ? 0xFFFD : unit);
    return 6;
}

/* The same for any escape. */
static size_t unescape_one(const char *text, size_t left, char **out) {
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    if (left < 2) {
        return 0;
    }
    if (text[1] == 'u') {
        return unescape_unicode(text, left, out);
    }
    const char *which = text[1] != '\0' ? strchr(from, text[1]) : NULL;
    if (which == NULL) {
        return 0;
    }
    *(*out)++ = to[which - from];
    return 2;
}

sb_code sbi_json_unescape(struct sbi_buffer *out, const char *text, size_t length) {
    /* Every escape is longer than what it stands for. */
    sb_code code = sbi_buffer_reserve(out, length);
    if (code != SB_OK) {
        return code;
    }
    char *to = out->data + out->length;
    for (size_t i = 0; i < length;) {
        const char *escape = memchr(text + i, '\\', length - i);
        size_t plain = escape != NULL ? (size_t)(escape - (text + i)) : length - i;
        memcpy(to, text + i, plain);
        to += plain;
        i += plain;
        if (escape != NULL) {
            size_t used = unescape_one(escape, length - i, &to);
            if (used == 0) {
                out->data[out->length] = '\0';
                return SB_PROTOCOL;
            }
            i += used;
        }
    }
    out->length = (size_t)(to - out->data);
    *to = '\0';
    return SB_OK;
}

bool sbi_json_mend_surrogates(char *text, size_t length) {
    bool found = false;
    for (size_t i = 0; i + 1 < length;) {
        if (text[i] != '\\') {
            i++;
            continue;
        }
        int32_t unit = text[i + 1] == 'u' ? read_hex(text + i + 2, length - i - 2) : -1;
        if (is_high(unit) && low_behind(text + i, length - i) >= 0) {
            i += 12;
        } else if (is_high(unit) || is_low(unit)) {
            memcpy(text + i, "\\ufffd", 6);
            found = true;
            i += 6;
        } else {
            i += 2;
        }
    }
    return found;
}
