#include "pause_waiters.h"

#include <stdlib.h>

struct pause_waiter {
    struct pause_waiter *next;
    enum pause_awaited awaited;
    sandbox_settled *settled;
    void *user;
};

int pause_waiters_add(struct pause_waiter **list, enum pause_awaited awaited,
                      sandbox_settled *settled, void *user) {
    struct pause_waiter *waiter = malloc(sizeof *waiter);
    if (!waiter)
        return -1;
    *waiter = (struct pause_waiter){*list, awaited, settled, user};
    *list = waiter;
    return 0;
}

bool pause_waiters_have(const struct pause_waiter *list, enum pause_awaited awaited) {
    while (list && list->awaited != awaited)
        list = list->next;
    return list != NULL;
}

void pause_waiters_tell(struct pause_waiter **list, enum pause_awaited awaited,
                        struct sandbox *sandbox, int status, const char *message) {
    struct pause_waiter *told = NULL;
    while (*list) {
        struct pause_waiter *waiter = *list;
        if (waiter->awaited != awaited) {
            list = &waiter->next;
            continue;
        }
        *list = waiter->next;
        waiter->next = told;
        told = waiter;
    }
    while (told) {
        struct pause_waiter *waiter = told;
        told = waiter->next;
        if (waiter->settled)
            waiter->settled(sandbox, status, message, waiter->user);
        free(waiter);
    }
}
