#include "unattended.h"

#include <stdlib.h>

struct sbi_unattended {
    struct sbi_unattended *next;
    struct sbi_exchange *exchange;
    const struct sbi_stream *stream; /* NULL: the answer does not matter */
    void *user;
    void (*end)(void *user, bool is_done);
};

static void free_request(struct sbi_unattended *request, bool is_done) {
    sbi_exchange_free(request->exchange);
    if (request->end != NULL) {
        request->end(request->user, is_done);
    }
    free(request);
}

static void on_done(void *user, struct sbi_exchange *exchange) {
    struct sbi_unattended *request = user;
    for (struct sbi_unattended **link = &exchange->loop->unattended; *link != NULL;
         link = &(*link)->next) {
        if (*link == request) {
            *link = request->next;
            break;
        }
    }
    free_request(request, true);
}

static int on_data(void *user, const char *bytes, size_t length, sb_error *err) {
    const struct sbi_unattended *request = user;
    return request->stream->data(request->user, bytes, length, err);
}

static bool is_full(void *user) {
    const struct sbi_unattended *request = user;
    return request->stream->is_full(request->user);
}

static const struct sbi_stream passing = {on_data, is_full};

static struct sbi_unattended *take(struct sbi_exchange *exchange) {
    struct sbi_unattended *request = calloc(1, sizeof *request);
    if (request != NULL) {
        sb_loop *loop = exchange->loop;
        *request = (struct sbi_unattended){.next = loop->unattended, .exchange = exchange};
        loop->unattended = request;
        exchange->user = request;
        exchange->done = on_done;
    }
    return request;
}

void sbi_unattended_send(struct sbi_exchange *exchange) {
    struct sbi_unattended *request = take(exchange);
    if (request == NULL) {
        sbi_exchange_free(exchange);
    } else if (sbi_exchange_start(exchange, NULL) != 0) {
        on_done(request, exchange);
    }
}

int sbi_unattended_adopt(struct sbi_exchange *exchange, const struct sbi_stream *stream, void *user,
                         void (*end)(void *user, bool is_done)) {
    struct sbi_unattended *request = take(exchange);
    if (request == NULL) {
        return -1;
    }
    request->stream = stream;
    request->user = user;
    request->end = end;
    exchange->stream = &passing;
    return 0;
}

void sbi_unattended_abandon(sb_loop *loop) {
    while (loop->unattended != NULL) {
        struct sbi_unattended *request = loop->unattended;
        loop->unattended = request->next;
        free_request(request, false);
    }
}
