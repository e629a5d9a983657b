#include "wire.h"

#include "error.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* Seconds after which a kept connection is not used again: less than what servers and balancers on
 * the way commonly keep one for. */
#define REMOTE_CONNECTION_AGE 50L

int sbi_wire_header(struct curl_slist **headers, sb_error *err, const char *format, ...) {
    char *line = NULL;
    va_list arguments;
    va_start(arguments, format);
    int length = vasprintf(&line, format, arguments);
    va_end(arguments);
    if (length < 0) {
        return sbi_no_memory(err);
    }
    struct curl_slist *longer = curl_slist_append(*headers, line);
    free(line);
    if (longer == NULL) {
        return sbi_no_memory(err);
    }
    *headers = longer;
    return 0;
}

void sbi_wire_transport(const struct sbi_config *config, CURL *easy) {
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_USERAGENT, "stepbox/" SB_VERSION);
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
    if (config->local) {
        curl_easy_setopt(easy, CURLOPT_UNIX_SOCKET_PATH, config->socket);
        /* The environment's http_proxy has no say in what stays on this machine. */
        curl_easy_setopt(easy, CURLOPT_PROXY, "");
        return;
    }
    curl_easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
    curl_easy_setopt(easy, CURLOPT_TCP_KEEPIDLE, 30L);
    curl_easy_setopt(easy, CURLOPT_TCP_KEEPINTVL, 15L);
    curl_easy_setopt(easy, CURLOPT_MAXAGE_CONN, REMOTE_CONNECTION_AGE);
    if (config->proxy != NULL) {
        curl_easy_setopt(easy, CURLOPT_PROXY, config->proxy);
    }
    if (config->ca_file != NULL) {
        curl_easy_setopt(easy, CURLOPT_CAINFO, config->ca_file);
    }
}

static int set_url(CURL *easy, sb_error *err, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static int set_url(CURL *easy, sb_error *err, const char *format, ...) {
    char *url = NULL;
    va_list arguments;
    va_start(arguments, format);
    int length = vasprintf(&url, format, arguments);
    va_end(arguments);
    if (length < 0) {
        return sbi_no_memory(err);
    }
    CURLcode result = curl_easy_setopt(easy, CURLOPT_URL, url);
    free(url);
    return result == CURLE_OK ? 0 : sbi_no_memory(err);
}

static int add_configured(const struct sbi_config *config, struct curl_slist **headers,
                          sb_error *err) {
    for (size_t i = 0; i < config->header_count; i++) {
        if (sbi_wire_header(headers, err, "%s", config->headers[i]) != 0) {
            return -1;
        }
    }
    return 0;
}

int sbi_wire_control(const struct sbi_config *config, const char *path, CURL *easy,
                     struct curl_slist **headers, sb_error *err) {
    const char *base = config->local ? "http://stepbox" : config->api_url;
    if (set_url(easy, err, "%s%s", base, path) != 0 || add_configured(config, headers, err) != 0) {
        return -1;
    }
    return config->api_key == NULL
               ? 0
               : sbi_wire_header(headers, err, "X-API-KEY: %s", config->api_key);
}

static int set_sandbox_url(const struct sbi_config *config, const struct sbi_address *address,
                           int port, const char *path, CURL *easy, struct curl_slist **headers,
                           sb_error *err) {
    if (config->local) {
        /* The host name routes in the engine, and is what libcurl keeps connections apart by. */
        return set_url(easy, err, "http://%d-%s.stepbox%s", port, address->id, path);
    }
    if (config->sandbox_url == NULL) {
        const char *domain = address->domain != NULL ? address->domain : config->domain;
        return set_url(easy, err, "https://%d-%s.%s%s", port, address->id, domain, path);
    }
    if (sbi_wire_header(headers, err, "E2b-Sandbox-Id: %s", address->id) != 0 ||
        sbi_wire_header(headers, err, "E2b-Sandbox-Port: %d", port) != 0) {
        return -1;
    }
    return set_url(easy, err, "%s%s", config->sandbox_url, path);
}

int sbi_wire_sandbox(const struct sbi_config *config, const struct sbi_address *address, int port,
                     const char *path, CURL *easy, struct curl_slist **headers, sb_error *err) {
    if (set_sandbox_url(config, address, port, path, easy, headers, err) != 0 ||
        add_configured(config, headers, err) != 0) {
        return -1;
    }
    if (address->access_token != NULL &&
        sbi_wire_header(headers, err, "X-Access-Token: %s", address->access_token) != 0) {
        return -1;
    }
    if (address->traffic_token != NULL &&
        sbi_wire_header(headers, err, "E2B-Traffic-Access-Token: %s", address->traffic_token) !=
            0) {
        return -1;
    }
    return 0;
}
