/*
 * zygote_start.h - starts the process of a zygote.
 */
#ifndef STEPBOX_ZYGOTE_START_H
#define STEPBOX_ZYGOTE_START_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "payload.h"

#define ZYGOTE_PYTHON "/usr/bin/python3"

/* What every zygote is started with: descriptors to read from, not to be passed on as they are. */
struct zygote_files {
    int script, library, files;
};

typedef struct zygote_process {
    pid_t pid;   /* our child; dies with the thread that called this */
    int jobs_fd; /* non-blocking */
    int stderr_fd;
} zygote_process;

/* 0, or -1 with message, which is meant for people. */
int zygote_files_load(struct zygote_files *files, const struct payload *payload, char *message,
                      size_t room);
void zygote_files_close(struct zygote_files *files);

/* Runs as this user and group, and no others; 0: as who we are. In the background where that can be
 * taken back, which root alone can. 0, or -1 with errno. */
int zygote_start(zygote_process *process, const struct zygote_files *files, uid_t uid, gid_t gid,
                 bool background);
/* Takes it back: what is forked from it shall run as others do. */
void zygote_to_foreground(const zygote_process *process);

#endif
