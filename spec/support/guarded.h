/*
 * guarded.h - a copy of bytes that ends at an unreadable page, so that a parser that reads too far
 * is caught.
 */
#ifndef STEPBOX_SPEC_GUARDED_H
#define STEPBOX_SPEC_GUARDED_H

#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define GUARDED_ROOM (128 * 1024)

/* The end of GUARDED_ROOM writable bytes with an unreadable page behind; NULL when that cannot be
 * had. */
static inline char *guarded_end(void) {
    static char *end;
    if (!end) {
        size_t page = (size_t)sysconf(_SC_PAGESIZE);
        char *all = mmap(NULL, GUARDED_ROOM + page, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (all == MAP_FAILED || mprotect(all + GUARDED_ROOM, page, PROT_NONE) < 0)
            return NULL;
        end = all + GUARDED_ROOM;
    }
    return end;
}

/* Copies bytes so that they end at the page. Valid until the next call. */
static inline char *guarded(const void *bytes, size_t length) {
    char *end = guarded_end();
    return end ? memcpy(end - length, bytes, length) : NULL;
}

#endif
