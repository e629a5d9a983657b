/* A server that refuses a body in the middle answers and closes. libcurl reads the answer unless it
 * is just about to send: then it fails, and closes its descriptor with the answer unread. A
 * duplicate of the descriptor keeps it readable. Only where the answer comes as plain text. */
#include "exchange.h"

#include "error.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

/* Of an answer with its head. */
#define MAX_LATE (64u * 1024)

static bool is_plain(const struct sbi_config *config) {
    return config->local ||
           (config->sandbox_url != NULL && strncasecmp(config->sandbox_url, "http://", 7) == 0);
}

void sbi_exchange_late_prepare(struct sbi_exchange *exchange) {
    /* The descriptor is known of a new connection alone; those would pile up if they were kept. */
    long is_needed = is_plain(exchange->config);
    curl_easy_setopt(exchange->easy, CURLOPT_FRESH_CONNECT, is_needed);
    curl_easy_setopt(exchange->easy, CURLOPT_FORBID_REUSE, is_needed);
}

void sbi_exchange_late_watch(struct sbi_exchange *exchange) {
    if (exchange->spare_fd < 0 && exchange->dial.fd >= 0 && is_plain(exchange->config)) {
        exchange->spare_fd = fcntl(exchange->dial.fd, F_DUPFD_CLOEXEC, 3);
    }
}

void sbi_exchange_late_end(struct sbi_exchange *exchange) {
    if (exchange->spare_fd >= 0) {
        close(exchange->spare_fd);
        exchange->spare_fd = -1;
    }
}

static size_t read_all(int fd, char *bytes, size_t size) {
    size_t length = 0;
    ssize_t count;
    while (length < size && (count = recv(fd, bytes + length, size - length, MSG_DONTWAIT)) > 0) {
        length += (size_t)count;
    }
    return length;
}

/* The end of the head that the bytes begin with, or NULL. */
static const char *end_of_head(const char *bytes, size_t length) {
    const char *end =
        length > 5 && memcmp(bytes, "HTTP/", 5) == 0 ? memmem(bytes, length, "\r\n\r\n", 4) : NULL;
    return end != NULL ? end + 4 : NULL;
}

static void take_head(struct sbi_exchange *exchange, const char *line, const char *end) {
    while (line < end) {
        const char *next = (const char *)memchr(line, '\n', (size_t)(end - line)) + 1;
        sbi_exchange_take_header(exchange, line, (size_t)(next - line));
        line = next;
    }
}

bool sbi_exchange_late_take(struct sbi_exchange *exchange) {
    if (exchange->spare_fd < 0 || exchange->status != 0 || exchange->error.code != SB_OK) {
        return false;
    }
    char *bytes = malloc(MAX_LATE);
    size_t length = bytes != NULL ? read_all(exchange->spare_fd, bytes, MAX_LATE) : 0;
    const char *body = end_of_head(bytes, length);
    if (body != NULL) {
        take_head(exchange, bytes, body);
        /* An answer without its whole body still says what it is; a success must be whole. */
        if (exchange->status >= 300) {
            sbi_exchange_keep(exchange, body, length - (size_t)(body - bytes));
        } else {
            exchange->status = 0;
        }
    }
    free(bytes);
    return exchange->status != 0;
}
