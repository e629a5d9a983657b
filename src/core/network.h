/*
 * network.h - what a sandbox may reach, on the wire.
 */
#ifndef STEPBOX_CORE_NETWORK_H
#define STEPBOX_CORE_NETWORK_H

#include "stepbox.h"

#include <jansson.h>

/* {"allowOut", "denyOut", "egressProxy"}, each only when it is given. NULL with err. */
json_t *sbi_network_json(const sb_network *network, sb_error *err);

#endif
