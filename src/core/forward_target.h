/*
 * forward_target.h - where the connections of a forward go.
 */
#ifndef STEPBOX_CORE_FORWARD_TARGET_H
#define STEPBOX_CORE_FORWARD_TARGET_H

#include "address.h"
#include "config.h"
#include "forward_head.h"

/* Copied from a box, and never changed. */
struct sbi_forward_target {
    struct sbi_config *config;
    char *request; /* the local engine: the whole request for a tunnel */
    /* Elsewhere: */
    char *url; /* scheme and host, for libcurl */
    char *host, *prefix, *lines;
    struct sbi_forward_rules rules; /* of these three */
};

int sbi_forward_target_init(struct sbi_forward_target *target, struct sbi_config *config,
                            const struct sbi_address *address, int port, sb_error *err);
void sbi_forward_target_free(struct sbi_forward_target *target);

#endif
