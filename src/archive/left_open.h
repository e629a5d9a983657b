/*
 * left_open.h - the directories of an archive that may still get something: their modes and times
 * are set when the stream has gone on elsewhere, since a mode may forbid writing and writing
 * changes the time.
 *
 * An archive goes through a tree depth first, so these are one directory and those above it. One
 * that does not gets its directories' times wrong, no more.
 */
#ifndef STEPBOX_ARCHIVE_LEFT_OPEN_H
#define STEPBOX_ARCHIVE_LEFT_OPEN_H

#include "stepbox.h"

#include <sys/stat.h>
#include <time.h>

struct left_open_directory {
    size_t length; /* of its path, a beginning of the last one's */
    mode_t mode;
    struct timespec time; /* modified; tv_nsec is UTIME_OMIT when it is not known */
};

struct left_open {
    char *path; /* of the last directory */
    struct left_open_directory *directories;
    size_t count, room;
};

/* Adds a directory by its clean path, to which left_open_leave() has gone before. */
int left_open_add(struct left_open *open, const char *clean, mode_t mode, struct timespec time,
                  sb_error *err);

/* Sets what is to be set on all that are not above the clean path; NULL: on all. */
int left_open_leave(struct left_open *open, int root, const char *clean, sb_error *err);

void left_open_free(struct left_open *open);

#endif
