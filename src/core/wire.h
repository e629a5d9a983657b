/*
 * wire.h - how a request finds its way: URLs, headers and transport options of an easy handle, for
 * the control plane and for the two servers in a sandbox.
 */
#ifndef STEPBOX_CORE_WIRE_H
#define STEPBOX_CORE_WIRE_H

#include "address.h"
#include "config.h"

#include <curl/curl.h>

#define SBI_PORT_ENVD 49983 /* processes, files, health */
#define SBI_PORT_CODE 49999 /* the code interpreter */

/* Appends a header line, "Name: value". -1 with SB_SYSTEM. */
int sbi_wire_header(struct curl_slist **headers, sb_error *err, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Options that each request has. */
void sbi_wire_transport(const struct sbi_config *config, CURL *easy);

/* Sets the URL of `path` ("/sandboxes/..." with its query), and adds the headers that go with it.
 */
int sbi_wire_control(const struct sbi_config *config, const char *path, CURL *easy,
                     struct curl_slist **headers, sb_error *err);
int sbi_wire_sandbox(const struct sbi_config *config, const struct sbi_address *address, int port,
                     const char *path, CURL *easy, struct curl_slist **headers, sb_error *err);

#endif
