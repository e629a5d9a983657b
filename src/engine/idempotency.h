/*
 * idempotency.h - the keys that clients have made sandboxes under, so that the same request, sent
 * again, finds the first one's sandbox.
 *
 * A key belongs to those who use the same way to the engine: its unix socket, or TCP with the API
 * key. It is known as long as its sandbox, and the last ones longer.
 */
#ifndef STEPBOX_IDEMPOTENCY_H
#define STEPBOX_IDEMPOTENCY_H

#include <jansson.h>
#include <stdbool.h>

#include "gateway.h"

#define IDEMPOTENCY_KEY_MAX 255

struct idempotency;
struct creation;

struct keyed_create {
    struct keyed_create *next; /* the newest first */
    char key[IDEMPOTENCY_KEY_MAX + 1];
    enum transport transport;
    unsigned char digest[32];
    struct creation *under_way; /* the caller's; NULL when it has an answer */
    json_t *answer;             /* that it got; NULL before */
};

/* NULL when out of memory. */
struct idempotency *idempotency_new(struct sandboxes *sandboxes);
void idempotency_free(struct idempotency *table);

/* 1 to 255 characters of visible ASCII. */
bool idempotency_key_is_valid(const char *key);
/* NULL when the key is new. */
struct keyed_create *idempotency_find(struct idempotency *table, enum transport transport,
                                      const char *key);
/* Whether it was for the same request: this body to this version of the API. */
bool idempotency_is_same(const struct keyed_create *create, int version, json_t *body);
/* A new one, under way; forgets old ones whose sandboxes are gone. NULL when out of memory. */
struct keyed_create *idempotency_add(struct idempotency *table, enum transport transport,
                                     const char *key, int version, json_t *body,
                                     struct creation *under_way);
/* It has made a sandbox; takes the reference to its answer. */
void idempotency_settle(struct keyed_create *create, json_t *answer);
/* It has not: the key is free again. */
void idempotency_forget(struct idempotency *table, struct keyed_create *create);

#endif
