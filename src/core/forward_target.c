#include "forward_target.h"

#include "error.h"
#include "ports.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Id and port are in headers too: they hold for every id. */
static int fill_local(struct sbi_forward_target *target, const struct sbi_address *address,
                      int port) {
    return asprintf(&target->request,
                    "CONNECT %s:%d HTTP/1.1\r\nHost: %s:%d\r\nE2b-Sandbox-Id: %s\r\n"
                    "E2b-Sandbox-Port: %d\r\n\r\n",
                    target->host, port, target->host, port, address->id, port);
}

/* A sandbox's own address, "https://PORT-ID.DOMAIN". */
static int fill_own(struct sbi_forward_target *target, const char *token) {
    target->prefix = strdup("");
    if (target->prefix == NULL || asprintf(&target->url, "https://%s", target->host) < 0) {
        return -1;
    }
    return asprintf(&target->lines, "%s%s%s", token != NULL ? "E2B-Traffic-Access-Token: " : "",
                    token != NULL ? token : "", token != NULL ? "\r\n" : "");
}

/* One address for all sandboxes, "http[s]://[USER@]HOST[/PREFIX]", told apart by headers. */
static int fill_shared(struct sbi_forward_target *target, const char *url,
                       const struct sbi_address *address, int port) {
    const char *token = address->traffic_token, *authority = strstr(url, "://") + 3;
    size_t length = strcspn(authority, "/");
    const char *at = memrchr(authority, '@', length);
    const char *host = at != NULL ? at + 1 : authority;
    free(target->host);
    target->host = strndup(host, length - (size_t)(host - authority));
    target->prefix = strdup(authority + length);
    target->url = strndup(url, (size_t)(authority + length - url));
    if (target->host == NULL || target->prefix == NULL || target->url == NULL) {
        return -1;
    }
    return asprintf(&target->lines, "E2b-Sandbox-Id: %s\r\nE2b-Sandbox-Port: %d\r\n%s%s%s",
                    address->id, port, token != NULL ? "E2B-Traffic-Access-Token: " : "",
                    token != NULL ? token : "", token != NULL ? "\r\n" : "");
}

int sbi_forward_target_init(struct sbi_forward_target *target, struct sbi_config *config,
                            const struct sbi_address *address, int port, sb_error *err) {
    *target = (struct sbi_forward_target){0};
    target->host = sbi_port_host(config, address, port, err);
    if (target->host == NULL) {
        return -1;
    }
    target->config = sbi_config_keep(config);
    int filled = config->local ? fill_local(target, address, port)
                 : config->sandbox_url != NULL
                     ? fill_shared(target, config->sandbox_url, address, port)
                     : fill_own(target, address->traffic_token);
    if (filled < 0) {
        sbi_forward_target_free(target);
        return sbi_no_memory(err);
    }
    target->rules = (struct sbi_forward_rules){target->host, target->prefix, target->lines};
    return 0;
}

void sbi_forward_target_free(struct sbi_forward_target *target) {
    sbi_config_release(target->config);
    free(target->request);
    free(target->url);
    free(target->host);
    free(target->prefix);
    free(target->lines);
    *target = (struct sbi_forward_target){0};
}
