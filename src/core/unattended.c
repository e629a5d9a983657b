#include "unattended.h"

#include <stdlib.h>

struct sbi_unattended {
    struct sbi_unattended *next;
    struct sbi_exchange *exchange;
};

static void on_done(void *user, struct sbi_exchange *exchange) {
    struct sbi_unattended *request = user;
    for (struct sbi_unattended **link = &exchange->loop->unattended; *link != NULL;
         link = &(*link)->next) {
        if (*link == request) {
            *link = request->next;
            break;
        }
    }
    sbi_exchange_free(exchange);
    free(request);
}

void sbi_unattended_send(struct sbi_exchange *exchange) {
    struct sbi_unattended *request = malloc(sizeof *request);
    if (request == NULL) {
        sbi_exchange_free(exchange);
        return;
    }
    sb_loop *loop = exchange->loop;
    *request = (struct sbi_unattended){.next = loop->unattended, .exchange = exchange};
    loop->unattended = request;
    exchange->user = request;
    exchange->done = on_done;
    if (sbi_exchange_start(exchange, NULL) != 0) {
        on_done(request, exchange);
    }
}

void sbi_unattended_abandon(sb_loop *loop) {
    while (loop->unattended != NULL) {
        struct sbi_unattended *request = loop->unattended;
        loop->unattended = request->next;
        sbi_exchange_free(request->exchange);
        free(request);
    }
}
