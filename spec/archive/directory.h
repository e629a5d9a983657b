/*
 * directory.h - a directory of a test's own, and what the tests of archives ask about it.
 */
#ifndef SPEC_ARCHIVE_DIRECTORY_H
#define SPEC_ARCHIVE_DIRECTORY_H

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct directory {
    char top[64];   /* removed with all that is in it */
    char path[100]; /* in top: what is outside of it must not change */
};

static inline int directory_set_up(void **state) {
    struct directory *d = calloc(1, sizeof *d);
    strcpy(d->top, "/tmp/stepbox-archive-XXXXXX");
    char *made = mkdtemp(d->top);
    assert(made != NULL);
    (void)made;
    snprintf(d->path, sizeof d->path, "%s/in", d->top);
    *state = d;
    return 0;
}

static inline int directory_tear_down(void **state) {
    struct directory *d = *state;
    char command[200];
    snprintf(command, sizeof command, "chmod -R u+rwx %s; rm -rf %s", d->top, d->top);
    int status = system(command);
    free(d);
    return status;
}

/* Runs a line of shell in top; true when it succeeds. */
static inline bool directory_holds(const struct directory *d, const char *line) {
    char command[2000];
    snprintf(command, sizeof command, "cd %s && %s", d->top, line);
    return system(command) == 0;
}

#endif
