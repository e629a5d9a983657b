#include "idempotency.h"

#include <nettle/sha2.h>
#include <stdlib.h>
#include <string.h>

/* Of sandboxes that are gone. */
#define REMEMBERED 256

struct idempotency {
    struct sandboxes *sandboxes;
    struct keyed_create *first;
};

struct idempotency *idempotency_new(struct sandboxes *sandboxes) {
    struct idempotency *table = calloc(1, sizeof *table);
    if (table)
        table->sandboxes = sandboxes;
    return table;
}

static void free_create(struct keyed_create *create) {
    json_decref(create->answer);
    free(create);
}

void idempotency_free(struct idempotency *table) {
    while (table && table->first) {
        struct keyed_create *create = table->first;
        table->first = create->next;
        free_create(create);
    }
    free(table);
}

bool idempotency_key_is_valid(const char *key) {
    size_t length = strlen(key);
    if (length == 0 || length > IDEMPOTENCY_KEY_MAX)
        return false;
    for (const char *c = key; *c; c++)
        if (*c <= ' ' || *c > '~')
            return false;
    return true;
}

struct keyed_create *idempotency_find(struct idempotency *table, enum transport transport,
                                      const char *key) {
    struct keyed_create *create = table->first;
    while (create && (create->transport != transport || strcmp(create->key, key) != 0))
        create = create->next;
    return create;
}

/* The order of a body's fields says nothing. 0, or -1 when out of memory. */
static int make_digest(int version, json_t *body, unsigned char digest[SHA256_DIGEST_SIZE]) {
    char *text = json_dumps(body, JSON_COMPACT | JSON_SORT_KEYS);
    if (!text)
        return -1;
    struct sha256_ctx context;
    uint8_t generation = (uint8_t)version;
    sha256_init(&context);
    sha256_update(&context, 1, &generation);
    sha256_update(&context, strlen(text), (const uint8_t *)text);
    sha256_digest(&context, SHA256_DIGEST_SIZE, digest);
    free(text);
    return 0;
}

bool idempotency_is_same(const struct keyed_create *create, int version, json_t *body) {
    unsigned char digest[SHA256_DIGEST_SIZE];
    return make_digest(version, body, digest) == 0 &&
           memcmp(digest, create->digest, sizeof digest) == 0;
}

static bool is_gone(struct idempotency *table, const struct keyed_create *create) {
    const char *id = json_string_value(json_object_get(create->answer, "sandboxID"));
    return id && !sandboxes_find(table->sandboxes, id);
}

static void forget_old(struct idempotency *table) {
    size_t gone = 0;
    struct keyed_create **link = &table->first;
    while (*link) {
        struct keyed_create *create = *link;
        if (is_gone(table, create) && ++gone > REMEMBERED) {
            *link = create->next;
            free_create(create);
        } else {
            link = &create->next;
        }
    }
}

struct keyed_create *idempotency_add(struct idempotency *table, enum transport transport,
                                     const char *key, int version, json_t *body,
                                     struct creation *under_way) {
    struct keyed_create *create = calloc(1, sizeof *create);
    if (!create || make_digest(version, body, create->digest) < 0) {
        free(create);
        return NULL;
    }
    forget_old(table);
    strcpy(create->key, key);
    create->transport = transport;
    create->under_way = under_way;
    create->next = table->first;
    table->first = create;
    return create;
}

void idempotency_settle(struct keyed_create *create, json_t *answer) {
    create->under_way = NULL;
    create->answer = answer;
}

void idempotency_forget(struct idempotency *table, struct keyed_create *create) {
    struct keyed_create **link = &table->first;
    while (*link != create)
        link = &(*link)->next;
    *link = create->next;
    free_create(create);
}
