/*
 * guarded.h - copies of bytes that end at an unreadable page, so that reading one too many is seen.
 */
#ifndef SPEC_CORE_GUARDED_H
#define SPEC_CORE_GUARDED_H

#include <assert.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct guarded {
    char *bytes;
    size_t length;
    void *map;
    size_t map_length;
};

static inline struct guarded guarded_new(const void *bytes, size_t length) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t body = (length + page - 1) / page * page + page;
    struct guarded guarded = {.length = length, .map_length = body + page};
    guarded.map =
        mmap(NULL, guarded.map_length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert(guarded.map != MAP_FAILED);
    int status = mprotect((char *)guarded.map + body, page, PROT_NONE);
    assert(status == 0);
    (void)status;
    guarded.bytes = (char *)guarded.map + body - length;
    memcpy(guarded.bytes, bytes, length);
    return guarded;
}

static inline void guarded_free(struct guarded *guarded) {
    munmap(guarded->map, guarded->map_length);
}

#endif
