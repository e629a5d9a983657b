#include "config.h"

#include "error.h"
#include "text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>
#include <unistd.h>

#define DEFAULT_DOMAIN "e2b.app"
#define DEFAULT_REQUEST_TIMEOUT 60.0

/* The option, else the environment's value, else NULL; an empty string counts as nothing. */
static const char *setting(const char *option, const char *variable) {
    if (option != NULL && option[0] != '\0') {
        return option;
    }
    const char *value = variable != NULL ? getenv(variable) : NULL;
    return value != NULL && value[0] != '\0' ? value : NULL;
}

static int copy(char **to, const char *from, sb_error *err) {
    if (from == NULL) {
        return 0;
    }
    *to = strdup(from);
    return *to != NULL ? 0 : sbi_no_memory(err);
}

static int copy_url(char **to, const char *from, const char *name, sb_error *err) {
    if (from == NULL) {
        return 0;
    }
    bool http = strncmp(from, "http://", 7) == 0 || strncmp(from, "https://", 8) == 0;
    if (!http || !sbi_is_header_value(from) || strpbrk(from, " ?#") != NULL) {
        return sbi_fail(err, SB_INVALID, "%s: not an http:// or https:// address: %s", name, from);
    }
    if (copy(to, from, err) != 0) {
        return -1;
    }
    for (size_t length = strlen(*to); length > 0 && (*to)[length - 1] == '/'; length--) {
        (*to)[length - 1] = '\0';
    }
    return 0;
}

static int copy_headers(struct sbi_config *config, const sb_client_options *options,
                        sb_error *err) {
    if (options->header_count == 0) {
        return 0;
    }
    config->headers = calloc(options->header_count, sizeof *config->headers);
    if (config->headers == NULL) {
        return sbi_no_memory(err);
    }
    for (size_t i = 0; i < options->header_count; i++) {
        const sb_pair *header = &options->headers[i];
        if (header->name == NULL || header->value == NULL || !sbi_is_header_name(header->name) ||
            !sbi_is_header_value(header->value)) {
            return sbi_fail(err, SB_INVALID, "headers: number %zu is no name and value of a header",
                            i + 1);
        }
        /* libcurl's way to send a header that is empty is a semicolon instead of the colon. */
        const char *between = header->value[0] != '\0' ? ": " : ";";
        if (asprintf(&config->headers[i], "%s%s%s", header->name, between, header->value) < 0) {
            config->headers[i] = NULL;
            return sbi_no_memory(err);
        }
        config->header_count = i + 1;
    }
    return 0;
}

/* $STEPBOX_SOCKET, $XDG_RUNTIME_DIR/stepbox/engine.sock, or a directory of the user's below /tmp.
 */
static int find_socket(struct sbi_config *config, const sb_client_options *options, sb_error *err) {
    const char *given = setting(options->socket, "STEPBOX_SOCKET");
    const char *runtime = setting(NULL, "XDG_RUNTIME_DIR");
    config->socket_is_given = given != NULL;
    int length;
    if (given != NULL) {
        length = asprintf(&config->socket, "%s", given);
    } else if (runtime != NULL && runtime[0] == '/') {
        length = asprintf(&config->socket, "%s/stepbox/engine.sock", runtime);
    } else {
        length = asprintf(&config->socket, "/tmp/stepbox-%lu/engine.sock", (unsigned long)getuid());
    }
    if (length < 0) {
        config->socket = NULL;
        return sbi_no_memory(err);
    }
    if ((size_t)length >= sizeof((struct sockaddr_un *)NULL)->sun_path) {
        return sbi_fail(err, SB_INVALID, "socket: longer than the %zu bytes a unix socket may have",
                        sizeof((struct sockaddr_un *)NULL)->sun_path - 1);
    }
    return copy(&config->engine, setting(options->engine, "STEPBOX_ENGINE"), err);
}

static int find_server(struct sbi_config *config, const sb_client_options *options, sb_error *err) {
    const char *domain = setting(options->domain, "E2B_DOMAIN");
    const char *key = setting(options->api_key, "E2B_API_KEY");
    if (key != NULL && !sbi_is_header_value(key)) {
        return sbi_fail(err, SB_INVALID, "api_key: has characters that no key has");
    }
    if (domain != NULL && !sbi_is_domain(domain)) {
        return sbi_fail(err, SB_INVALID, "domain: not a host name: %s", domain);
    }
    if (copy(&config->api_key, key, err) != 0 ||
        copy(&config->domain, domain != NULL ? domain : DEFAULT_DOMAIN, err) != 0 ||
        copy_url(&config->api_url, setting(options->api_url, "E2B_API_URL"), "api_url", err) != 0 ||
        copy_url(&config->sandbox_url, setting(options->sandbox_url, "E2B_SANDBOX_URL"),
                 "sandbox_url", err) != 0) {
        return -1;
    }
    if (config->api_url == NULL &&
        asprintf(&config->api_url, "https://api.%s", config->domain) < 0) {
        config->api_url = NULL;
        return sbi_no_memory(err);
    }
    return 0;
}

static int fill(struct sbi_config *config, const sb_client_options *options, sb_error *err) {
    bool server_given =
        setting(options->api_key, NULL) != NULL || setting(options->domain, NULL) != NULL ||
        setting(options->api_url, NULL) != NULL || setting(options->sandbox_url, NULL) != NULL;
    bool server_in_environment =
        setting(NULL, "E2B_API_KEY") != NULL || setting(NULL, "E2B_DOMAIN") != NULL ||
        setting(NULL, "E2B_API_URL") != NULL || setting(NULL, "E2B_SANDBOX_URL") != NULL;
    bool socket_given = setting(options->socket, NULL) != NULL;
    if (server_given && socket_given) {
        return sbi_fail(err, SB_INVALID,
                        "socket: names the local engine, which has no api_key, domain or address");
    }
    if (options->request_timeout < 0 || options->request_timeout != options->request_timeout) {
        return sbi_fail(err, SB_INVALID, "request_timeout: must be more than 0 seconds");
    }
    config->request_timeout =
        options->request_timeout > 0 ? options->request_timeout : DEFAULT_REQUEST_TIMEOUT;
    config->local = socket_given || (!server_given && !server_in_environment);
    if (copy(&config->proxy, setting(options->proxy, NULL), err) != 0 ||
        copy(&config->ca_file, setting(options->ca_file, NULL), err) != 0 ||
        copy_headers(config, options, err) != 0) {
        return -1;
    }
    return config->local ? find_socket(config, options, err) : find_server(config, options, err);
}

struct sbi_config *sbi_config_new(const sb_client_options *options, sb_error *err) {
    static const sb_client_options defaults;
    struct sbi_config *config = calloc(1, sizeof *config);
    if (config == NULL) {
        sbi_no_memory(err);
        return NULL;
    }
    atomic_init(&config->references, 1);
    if (fill(config, options != NULL ? options : &defaults, err) != 0) {
        sbi_config_release(config);
        return NULL;
    }
    return config;
}

struct sbi_config *sbi_config_keep(struct sbi_config *config) {
    atomic_fetch_add(&config->references, 1);
    return config;
}

void sbi_config_release(struct sbi_config *config) {
    if (config == NULL || atomic_fetch_sub(&config->references, 1) > 1) {
        return;
    }
    char *strings[] = {config->api_key, config->domain,  config->api_url, config->sandbox_url,
                       config->proxy,   config->ca_file, config->socket,  config->engine};
    for (size_t i = 0; i < sizeof strings / sizeof *strings; i++) {
        free(strings[i]);
    }
    for (size_t i = 0; i < config->header_count; i++) {
        free(config->headers[i]);
    }
    free(config->headers);
    free(config);
}
