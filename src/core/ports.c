#include "ports.h"

#include "box.h"
#include "error.h"

#include <stdio.h>

/* What the local engine does not name: any name does. */
#define LOCAL_DOMAIN "stepbox"

char *sbi_port_host(const struct sbi_config *config, const struct sbi_address *address, int port,
                    sb_error *err) {
    const char *domain = address->domain != NULL ? address->domain
                         : config->local         ? LOCAL_DOMAIN
                                                 : config->domain;
    char *host = NULL;
    if (port < 1 || port > 65535) {
        sbi_fail(err, SB_INVALID, "port: must be from 1 to 65535");
        return NULL;
    }
    if (asprintf(&host, "%d-%s.%s", port, address->id, domain) < 0) {
        sbi_no_memory(err);
        return NULL;
    }
    return host;
}

char *sb_box_host(const sb_box *box, int port, sb_error *err) {
    if (box->is_closed) {
        sbi_fail(err, SB_CLOSED, "the box is closed");
        return NULL;
    }
    return sbi_port_host(box->config, &box->address, port, err);
}
