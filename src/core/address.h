/*
 * address.h - what is needed to reach one sandbox besides the client's configuration: what create
 * and connect answered.
 */
#ifndef STEPBOX_CORE_ADDRESS_H
#define STEPBOX_CORE_ADDRESS_H

#include "stepbox.h"

#include <jansson.h>

struct sbi_address {
    char *id;
    char *domain;        /* NULL: the client's */
    char *access_token;  /* for what runs in the sandbox; NULL: none */
    char *traffic_token; /* for the proxy before it; NULL: none */
    char *version;       /* of what runs in the sandbox, "0.4.1"; NULL: unknown */
};

/* Fills an address from the answer. Each string is checked: it goes into host names and headers.
 * -1 with SB_PROTOCOL. */
int sbi_address_parse(struct sbi_address *address, const json_t *answer, sb_error *err);
void sbi_address_free(struct sbi_address *address);

/* Whether what runs in the sandbox has at least this version. Unknown counts as old. */
bool sbi_address_has_version(const struct sbi_address *address, int major, int minor, int patch);

#endif
