/* signature.c - see signature.h */
#include "signature.h"

#include "base64_encode.h"

#include <errno.h>
#include <inttypes.h>
#include <nettle/memops.h>
#include <nettle/sha2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VERSION "v1_"

static void add(struct sha256_ctx *hash, const char *separator, const char *text) {
    sha256_update(hash, strlen(separator), (const uint8_t *)separator);
    sha256_update(hash, strlen(text), (const uint8_t *)text);
}

void signature_make(const signature_subject *subject, const char *token,
                    char text[SIGNATURE_SIZE]) {
    struct sha256_ctx hash;
    uint8_t digest[SHA256_DIGEST_SIZE];
    char encoded[BASE64_SIZE(SHA256_DIGEST_SIZE) + 1], number[24];
    sha256_init(&hash);
    add(&hash, "", subject->path);
    add(&hash, ":", subject->operation);
    add(&hash, ":", subject->user);
    add(&hash, ":", token);
    if (subject->expires) {
        snprintf(number, sizeof number, "%" PRId64, subject->expiration);
        add(&hash, ":", number);
    }
    sha256_digest(&hash, sizeof digest, digest);
    base64_encode(digest, sizeof digest, encoded);
    encoded[sizeof encoded - 1] = '\0';
    encoded[strcspn(encoded, "=")] = '\0';
    snprintf(text, SIGNATURE_SIZE, VERSION "%s", encoded);
}

bool signature_matches(const char *signature, const signature_subject *subject, const char *token) {
    char expected[SIGNATURE_SIZE], given[SIGNATURE_SIZE];
    signature_make(subject, token, expected);
    size_t length = strlen(expected);
    if (strlen(signature) != length)
        return false;
    for (size_t i = 0; i < length; i++)
        given[i] = signature[i] == ' ' ? '+' : signature[i];
    /* In a time that does not tell how much of it is right. */
    return memeql_sec(given, expected, length);
}

bool signature_read_expiration(const char *text, int64_t *expiration) {
    char *end;
    size_t digits = strspn(text + (*text == '-'), "0123456789");
    errno = 0;
    *expiration = strtoll(text, &end, 10);
    return digits > 0 && !*end && errno == 0;
}
