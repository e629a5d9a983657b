/*
 * payload.h - the files that every sandbox gets from the engine: agent, runners, and its /etc.
 *
 * They are read into memory when the engine starts. So no path of the host is visible in a sandbox,
 * the permissions of the directories that they came from do not matter, and replacing the installed
 * files does not disturb a running engine.
 */
#ifndef STEPBOX_PAYLOAD_H
#define STEPBOX_PAYLOAD_H

#include <stddef.h>
#include <sys/types.h>

#define PAYLOAD_DIRECTORY "/opt/stepbox"
#define PAYLOAD_AGENT "/opt/stepbox/stepbox-agent"

typedef struct payload_entry {
    char *path;  /* in the sandbox; directories that lead there are made as needed */
    mode_t mode; /* with the type: a regular file, a symbolic link or a directory */
    char *data;  /* of a file; of a link, where it leads */
    size_t size;
} payload_entry;

struct payload {
    payload_entry *entries;
    size_t count, room;
    size_t bytes; /* of all data */
};

/* Loads the agent, the files runners/LANGUAGE/NAME and the files of /etc. 0, or -1 with message. */
int payload_load(struct payload *payload, const char *agent, const char *runners, char *message,
                 size_t room);
void payload_free(struct payload *payload);

/* Adds an entry; the data is copied. 0, or -1 with errno. */
int payload_add(struct payload *payload, const char *path, mode_t mode, const char *data,
                size_t size);
/* Adds the regular file `source`, up to `most` bytes. 0, or -1 with errno. */
int payload_add_file(struct payload *payload, const char *path, mode_t mode, int directory_fd,
                     const char *source, size_t most);

#endif
