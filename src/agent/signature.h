/*
 * signature.h - signatures of file URLs, for who has no access token.
 */
#ifndef STEPBOX_SIGNATURE_H
#define STEPBOX_SIGNATURE_H

#include <stdint.h>
#include <stdbool.h>

#define SIGNATURE_SIZE 48 /* with its NUL */

/* What is signed. */
typedef struct signature_subject {
    const char *path, *operation, *user; /* path and user as the URL gives them, or "" */
    bool expires;
    int64_t expiration; /* Unix seconds */
} signature_subject;

void signature_make(const signature_subject *subject, const char *token, char text[SIGNATURE_SIZE]);
/* Whether it is the one that signature_make() makes. A plus sign may have become a space, as it
 * does in a URL that was put together carelessly. */
bool signature_matches(const char *signature, const signature_subject *subject, const char *token);
/* Reads the expiration that a URL gives; false when it is no number. */
bool signature_read_expiration(const char *text, int64_t *expiration);

#endif
