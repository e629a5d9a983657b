/* line.c - see line.h */
#include "line.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool reserve(struct line *line, size_t more) {
    if (line->failed)
        return false;
    if (more <= line->room - line->length)
        return true;
    size_t room = line->room * 2 > line->length + more ? line->room * 2 : line->length + more + 256;
    char *bytes = realloc(line->bytes, room);
    if (!bytes) {
        line->failed = true;
        return false;
    }
    line->bytes = bytes;
    line->room = room;
    return true;
}

void line_add(struct line *line, const char *bytes, size_t length) {
    if (!reserve(line, length))
        return;
    memcpy(line->bytes + line->length, bytes, length);
    line->length += length;
}

void line_add_text(struct line *line, const char *text) {
    line_add(line, text, strlen(text));
}

/* Decodes one character that is not ASCII; returns its bytes, or 0 when it is none. */
static size_t decode(const unsigned char *at, size_t left, uint32_t *character) {
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t count = at[0] >= 0xF0 ? 4 : at[0] >= 0xE0 ? 3 : 2;
    if (at[0] < 0xC2 || at[0] > 0xF4 || left < count)
        return 0;
    uint32_t value = at[0] & (0xFFu >> (count + 1));
    for (size_t i = 1; i < count; i++) {
        if ((at[i] & 0xC0) != 0x80)
            return 0;
        value = value << 6 | (at[i] & 0x3F);
    }
    if (value < least[count] || value > 0x10FFFF || (value >= 0xD800 && value <= 0xDFFF))
        return 0;
    *character = value;
    return count;
}

/* Writes \uXXXX; returns its length. */
static size_t escape_unit(char *to, uint32_t unit) {
    static const char digits[] = "0123456789abcdef";
    to[0] = '\\';
    to[1] = 'u';
    for (int i = 0; i < 4; i++)
        to[2 + i] = digits[unit >> (12 - 4 * i) & 0xF];
    return 6;
}

static size_t escape_character(char *to, uint32_t character) {
    if (character < 0x10000)
        return escape_unit(to, character);
    character -= 0x10000;
    size_t length = escape_unit(to, 0xD800 | character >> 10);
    return length + escape_unit(to + length, 0xDC00 | (character & 0x3FF));
}

static size_t escape_ascii(char *to, unsigned char byte) {
    static const char special[] = "\"\\\n\r\t\b\f", letters[] = "\"\\nrtbf";
    const char *found = byte ? strchr(special, byte) : NULL;
    if (!found)
        return escape_unit(to, byte);
    to[0] = '\\';
    to[1] = letters[found - special];
    return 2;
}

static bool is_plain(unsigned char byte) {
    return byte >= 0x20 && byte < 0x7F && byte != '"' && byte != '\\';
}

void line_add_string(struct line *line, const char *bytes, size_t length) {
    const unsigned char *at = (const unsigned char *)bytes, *end = at + length;
    line_add(line, "\"", 1);
    while (at < end) {
        const unsigned char *run = at;
        while (at < end && is_plain(*at))
            at++;
        line_add(line, (const char *)run, (size_t)(at - run));
        if (at == end || !reserve(line, 12))
            break;
        char *to = line->bytes + line->length;
        if (*at < 0x80) {
            line->length += escape_ascii(to, *at++);
        } else {
            uint32_t character = 0xFFFD;
            size_t count = decode(at, (size_t)(end - at), &character);
            line->length += escape_character(to, character);
            at += count ? count : 1;
        }
    }
    line_add(line, "\"", 1);
}

void line_free(struct line *line) {
    free(line->bytes);
    *line = (struct line){0};
}
