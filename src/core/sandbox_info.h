/*
 * sandbox_info.h - what the control plane tells of sandboxes, as sb_info.
 */
#ifndef STEPBOX_CORE_SANDBOX_INFO_H
#define STEPBOX_CORE_SANDBOX_INFO_H

#include "stepbox.h"

#include <jansson.h>

struct sbi_infos {
    json_t *root; /* the strings of the infos live here */
    sb_info *infos;
    size_t count;
    char *next_token; /* NULL on the last page */
};

/* From one object or a list of them; takes the reference to root. NULL with SB_PROTOCOL. */
struct sbi_infos *sbi_infos_new(json_t *root, sb_error *err);
void sbi_infos_free(struct sbi_infos *infos); /* NULL is allowed */

#endif
