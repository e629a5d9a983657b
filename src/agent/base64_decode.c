/* base64_decode.c - see base64_decode.h */
#include "base64_decode.h"

#include <stdint.h>

/* 0 to 63, or -1. */
static int value_of(char c) {
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (c >= '0' && c <= '9')
        return c - '0' + 52;
    if (c == '+' || c == '-')
        return 62;
    return c == '/' || c == '_' ? 63 : -1;
}

/* The last two or three characters. */
static ssize_t decode_rest(const char *text, size_t length, unsigned char *to) {
    uint32_t bits = 0;
    for (size_t i = 0; i < length; i++) {
        int value = value_of(text[i]);
        if (value < 0)
            return -1;
        bits = bits << 6 | (uint32_t)value;
    }
    /* Bits that belong to no byte are zero, or this is no base64 that anybody encodes. */
    if (length == 1 || (length == 2 && bits & 15) || (length == 3 && bits & 3))
        return -1;
    if (length == 2)
        *to = (unsigned char)(bits >> 4);
    if (length == 3) {
        to[0] = (unsigned char)(bits >> 10);
        to[1] = (unsigned char)(bits >> 2);
    }
    return length ? (ssize_t)length - 1 : 0;
}

ssize_t base64_decode(const char *text, size_t length, unsigned char *to) {
    unsigned char *at = to;
    if (length && length % 4 == 0 && text[length - 1] == '=')
        length -= text[length - 2] == '=' ? 2 : 1;
    for (; length >= 4; text += 4, length -= 4) {
        int a = value_of(text[0]), b = value_of(text[1]), c = value_of(text[2]),
            d = value_of(text[3]);
        if ((a | b | c | d) < 0)
            return -1;
        *at++ = (unsigned char)(a << 2 | b >> 4);
        *at++ = (unsigned char)(b << 4 | c >> 2);
        *at++ = (unsigned char)(c << 6 | d);
    }
    ssize_t rest = decode_rest(text, length, at);
    return rest < 0 ? -1 : at - to + rest;
}
