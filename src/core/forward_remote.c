#include "forward_remote.h"

#include "wire.h"

#include <stdio.h>
#include <string.h>

/* Connecting may take this many seconds at most. */
#define CONNECT_SECONDS 30.0

enum sbi_forward_head_result sbi_forward_remote_rewrite(struct sbi_forward_connection *connection,
                                                        char **request, size_t *length) {
    struct sbi_buffer *head = &connection->head, out;
    size_t used = 0;
    sbi_buffer_init(&out, 4 * SBI_FORWARD_HEAD_MAX);
    enum sbi_forward_head_result result =
        sbi_forward_head_rewrite(sbi_buffer_string(head), head->length, &connection->target->rules,
                                 &out, &used, &connection->upgrade);
    if (result == SBI_FORWARD_HEAD_DONE &&
        sbi_buffer_append(&out, head->data + used, head->length - used) != SB_OK) {
        result = SBI_FORWARD_HEAD_BAD;
    }
    if (result != SBI_FORWARD_HEAD_DONE) {
        sbi_buffer_free(&out);
        return result;
    }
    sbi_buffer_free(head);
    *length = out.length;
    *request = sbi_buffer_take(&out);
    return result;
}

int sbi_forward_remote_connect(struct sbi_forward_connection *connection) {
    const struct sbi_config *config = connection->target->config;
    CURL *easy = curl_easy_init();
    if (easy == NULL || curl_easy_setopt(easy, CURLOPT_URL, connection->target->url) != CURLE_OK) {
        curl_easy_cleanup(easy);
        return -1;
    }
    double seconds =
        config->request_timeout < CONNECT_SECONDS ? config->request_timeout : CONNECT_SECONDS;
    sbi_wire_transport(config, easy);
    sbi_dial_apply(&connection->dial, config, easy);
    curl_easy_setopt(easy, CURLOPT_CONNECT_ONLY, 1L);
    curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, (long)(seconds * 1000) + 1);
    /* What is sent is HTTP/1, so that TLS must not settle for another. */
    curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    /* A proxy, if there is one, has to pass bytes. */
    curl_easy_setopt(easy, CURLOPT_HTTPPROXYTUNNEL, 1L);
#if LIBCURL_VERSION_NUM >= 0x075700
    /* A name that is still looked up must not hold up the end of the forward. */
    curl_easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L);
#endif
    curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, connection->complaint);
    curl_easy_setopt(easy, CURLOPT_PRIVATE, connection);
    if (curl_multi_add_handle(connection->multi, easy) != CURLM_OK) {
        curl_easy_cleanup(easy);
        return -1;
    }
    connection->far.easy = easy;
    connection->far.is_tls = strncmp(connection->target->url, "https:", 6) == 0;
    return 0;
}

int sbi_forward_remote_connected(struct sbi_forward_connection *connection, CURLcode result) {
    curl_socket_t fd = CURL_SOCKET_BAD;
    if (result == CURLE_OK) {
        result = curl_easy_getinfo(connection->far.easy, CURLINFO_ACTIVESOCKET, &fd);
    }
    if (result == CURLE_OK && fd != CURL_SOCKET_BAD) {
        connection->far.fd = fd;
        return 0;
    }
    if (connection->complaint[0] == '\0') {
        snprintf(connection->complaint, sizeof connection->complaint, "%s",
                 curl_easy_strerror(result));
    }
    return -1;
}

void sbi_forward_remote_close(struct sbi_forward_connection *connection) {
    /* Stays in the multi until here: libcurl closes the connection when it is taken out. */
    curl_multi_remove_handle(connection->multi, connection->far.easy);
    curl_easy_cleanup(connection->far.easy);
    connection->far.easy = NULL;
    connection->far.fd = -1;
}
