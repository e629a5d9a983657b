#include "base64.h"

#include <stdbool.h>
#include <stdint.h>

size_t sbi_base64_room(size_t length) {
    return length / 4 * 3 + 3;
}

/* 0 to 63, or -1. */
static int value_of(unsigned char c) {
    if (c >= 'A' && c <= 'Z') {
        return c - 'A';
    }
    if (c >= 'a' && c <= 'z') {
        return c - 'a' + 26;
    }
    if (c >= '0' && c <= '9') {
        return c - '0' + 52;
    }
    return c == '+' ? 62 : c == '/' ? 63 : -1;
}

static bool is_space(char c) {
    return c == '\n' || c == '\r' || c == ' ' || c == '\t';
}

ssize_t sbi_base64_decode(const char *text, size_t length, unsigned char *out) {
    size_t written = 0;
    uint32_t bits = 0;
    unsigned characters = 0, padding = 0; /* of the group of four under way */
    for (size_t i = 0; i < length; i++) {
        if (is_space(text[i])) {
            continue;
        }
        if (text[i] == '=') {
            if (characters < 2 || characters + ++padding > 4) {
                return -1;
            }
            continue;
        }
        int value = value_of((unsigned char)text[i]);
        if (value < 0 || padding > 0) {
            return -1;
        }
        bits = bits << 6 | (uint32_t)value;
        if (++characters == 4) {
            out[written++] = (unsigned char)(bits >> 16);
            out[written++] = (unsigned char)(bits >> 8);
            out[written++] = (unsigned char)bits;
            bits = 0;
            characters = 0;
        }
    }
    if (padding > 0 && characters + padding != 4) {
        return -1;
    }
    switch (characters) {
    case 0:
        return (ssize_t)written;
    case 2:
        out[written++] = (unsigned char)(bits >> 4);
        return (ssize_t)written;
    case 3:
        out[written++] = (unsigned char)(bits >> 10);
        out[written++] = (unsigned char)(bits >> 2);
        return (ssize_t)written;
    default:
        return -1;
    }
}
