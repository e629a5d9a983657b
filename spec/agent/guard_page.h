/* guard_page.h - for tests: memory that ends at a page that cannot be read. */
#ifndef STEPBOX_SPEC_GUARD_PAGE_H
#define STEPBOX_SPEC_GUARD_PAGE_H

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define GUARD_SIZE 4096

/* A copy of at most GUARD_SIZE bytes right before the page; the next call reuses the memory. */
static inline char *guarded(const void *bytes, size_t length) {
    static char *memory;
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    if (!memory) {
        memory = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        mprotect(memory + page, page, PROT_NONE);
    }
    return memcpy(memory + page - length, bytes, length);
}

#endif
