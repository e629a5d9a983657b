/* json_text.c - see json_text.h */
#include "json_text.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static const char replacement[] = "\xef\xbf\xbd"; /* U+FFFD */

/* The length of the character that the bytes begin with, or 0 when they begin with none. */
static size_t character_length(const unsigned char *at, size_t left) {
    unsigned char low = 0x80, high = 0xbf, first = at[0];
    size_t length = first < 0x80 ? 1 : first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
    if (length == 0 || first > 0xf4 || length > left)
        return 0;
    if (first == 0xe0)
        low = 0xa0; /* shorter forms exist for less */
    if (first == 0xed)
        high = 0x9f; /* surrogates are not characters */
    if (first == 0xf0)
        low = 0x90;
    if (first == 0xf4)
        high = 0x8f; /* nothing is above U+10FFFF */
    for (size_t i = 1; i < length; i++) {
        if (at[i] < low || at[i] > high)
            return 0;
        low = 0x80;
        high = 0xbf;
    }
    return length;
}

json_t *json_text(const char *bytes, size_t length) {
    json_t *value = json_stringn(bytes, length);
    if (value || length > SIZE_MAX / 3)
        return value;
    char *text = malloc(length * 3 + 1);
    if (!text)
        return NULL;
    size_t used = 0;
    for (size_t at = 0; at < length;) {
        size_t whole = character_length((const unsigned char *)bytes + at, length - at);
        const char *from = whole ? bytes + at : replacement;
        size_t size = whole ? whole : sizeof replacement - 1;
        memcpy(text + used, from, size);
        used += size;
        at += whole ? whole : 1;
    }
    value = json_stringn(text, used);
    free(text);
    return value;
}
