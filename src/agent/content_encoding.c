/* content_encoding.c - see content_encoding.h */
#include "content_encoding.h"

#include <stddef.h>
#include <string.h>
#include <strings.h>

#define SPACE " \t"

typedef enum coding { IDENTITY, GZIP, ANY, OTHER } coding;

static bool is_word(const char *text, size_t length, const char *word) {
    return length == strlen(word) && strncasecmp(text, word, length) == 0;
}

static coding coding_of(const char *text, size_t length) {
    return is_word(text, length, "identity")                                  ? IDENTITY
           : is_word(text, length, "gzip") || is_word(text, length, "x-gzip") ? GZIP
           : is_word(text, length, "*")                                       ? ANY
                                                                              : OTHER;
}

/* A weight of "0", "0.25" or "1.0" in thousandths; what is malformed counts fully. */
static int weight_of(const char *text, size_t length) {
    int weight = 0, unit = 1000;
    for (size_t i = 0; i < length; i++) {
        if (i == 1 ? text[i] != '.' : text[i] < '0' || text[i] > '9')
            return 1000;
        if (i != 1) {
            weight += (text[i] - '0') * unit;
            unit /= 10;
        }
    }
    return length == 0 || weight > 1000 ? 1000 : weight;
}

/* Takes the next element of a list, such as "gzip;q=0.5". False at the end. */
static bool next_element(const char **at, coding *named, int *weight) {
    *at += strspn(*at, SPACE ",");
    if (!**at)
        return false;
    size_t length = strcspn(*at, SPACE ",;");
    *named = coding_of(*at, length);
    *weight = 1000;
    *at += length;
    while (**at && **at != ',') {
        *at += strspn(*at, SPACE ";");
        length = strcspn(*at, SPACE ",;");
        if (length > 2 && strncasecmp(*at, "q=", 2) == 0)
            *weight = weight_of(*at + 2, length - 2);
        *at += length;
    }
    return true;
}

bool content_encoding_accepts_identity(const char *accept) {
    coding named;
    int weight, any = -1, identity = -1;
    while (accept && next_element(&accept, &named, &weight)) {
        if (named == IDENTITY)
            identity = weight;
        else if (named == ANY)
            any = weight;
    }
    return identity >= 0 ? identity > 0 : any != 0;
}

content_encoding content_encoding_choose(const char *accept) {
    bool identity = content_encoding_accepts_identity(accept);
    coding named;
    int weight, gzip = 0, others = 0;
    while (accept && next_element(&accept, &named, &weight)) {
        int *best = named == GZIP || (named == ANY && !identity) ? &gzip : &others;
        if (weight > *best)
            *best = weight;
    }
    if (gzip > 0 && (gzip > others || !identity))
        return CONTENT_GZIP;
    return identity ? CONTENT_IDENTITY : CONTENT_UNKNOWN;
}

content_encoding content_encoding_parse(const char *value) {
    size_t length = value ? strcspn(value += strspn(value, SPACE), SPACE) : 0;
    if (value && value[length + strspn(value + length, SPACE)])
        return CONTENT_UNKNOWN;
    coding named = length ? coding_of(value, length) : IDENTITY;
    return named == IDENTITY ? CONTENT_IDENTITY : named == GZIP ? CONTENT_GZIP : CONTENT_UNKNOWN;
}
