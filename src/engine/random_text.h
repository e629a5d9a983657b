/*
 * random_text.h - identifiers that cannot be guessed.
 */
#ifndef STEPBOX_RANDOM_TEXT_H
#define STEPBOX_RANDOM_TEXT_H

#include <stddef.h>

#define SANDBOX_ID_LENGTH 20
#define ACCESS_TOKEN_LENGTH 32

/* Fills out[0..length) with random characters of the alphabet and ends it with a NUL. 0, or -1 with
 * errno when the kernel gives no randomness. */
int random_text(char *out, size_t length, const char *alphabet);

/* "i" and 19 of a-z0-9; out has SANDBOX_ID_LENGTH + 1 bytes. */
int random_sandbox_id(char *out);

/* Hexadecimal; out has ACCESS_TOKEN_LENGTH + 1 bytes. */
int random_access_token(char *out);

#endif
