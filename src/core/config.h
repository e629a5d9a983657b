/*
 * config.h - where a client finds its sandboxes. Made once, never changed, counted; the reaper
 * thread and the handler at exit share it with the client and its boxes.
 */
#ifndef STEPBOX_CORE_CONFIG_H
#define STEPBOX_CORE_CONFIG_H

#include "stepbox.h"

#include <stdatomic.h>

struct sbi_config {
    atomic_int references;
    bool local;           /* the engine behind `socket`, not a server behind `api_url` */
    bool socket_is_given; /* by the caller or STEPBOX_SOCKET: whoever listens there is trusted */
    char *api_key;        /* NULL: none is sent; the same for what follows */
    char *domain;
    char *api_url; /* without a slash at the end */
    char *sandbox_url;
    char *proxy;
    char *ca_file;
    char *socket;
    char *engine;
    char **headers; /* "Name: value" */
    size_t header_count;
    double request_timeout; /* seconds */
};

struct sbi_config *sbi_config_new(const sb_client_options *options, sb_error *err);
struct sbi_config *sbi_config_keep(struct sbi_config *config);
void sbi_config_release(struct sbi_config *config); /* NULL is allowed */

#endif
