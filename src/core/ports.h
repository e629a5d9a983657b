/*
 * ports.h - how the ports of a sandbox are named.
 */
#ifndef STEPBOX_CORE_PORTS_H
#define STEPBOX_CORE_PORTS_H

#include "address.h"
#include "config.h"

/* "PORT-ID.DOMAIN", to be freed. NULL with SB_INVALID for what is no port. */
char *sbi_port_host(const struct sbi_config *config, const struct sbi_address *address, int port,
                    sb_error *err);

#endif
