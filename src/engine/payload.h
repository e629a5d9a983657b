/*
 * payload.h - the files that every sandbox gets from the engine: agent, runners, and a small /etc.
 *
 * They are read into memory when the engine starts. So no path of the host is visible in a sandbox,
 * the permissions of the directories that they came from do not matter, and replacing the installed
 * files does not disturb a running engine.
 */
#ifndef STEPBOX_PAYLOAD_H
#define STEPBOX_PAYLOAD_H

#include <stddef.h>

#define PAYLOAD_AGENT "/opt/stepbox/stepbox-agent"

typedef struct payload_file {
    char *path; /* in the sandbox */
    int mode;
    int memory_fd; /* read it through payload_open(): the offset of this one is shared */
} payload_file;

struct payload {
    payload_file *files;
    size_t count;
};

/* Loads the agent and the files runners/LANGUAGE/NAME. 0, or -1 with message. */
int payload_load(struct payload *payload, const char *agent, const char *runners, char *message,
                 size_t room);
void payload_free(struct payload *payload);

/* A descriptor of its own to read a file from its start, CLOEXEC; -1 with errno. */
int payload_open(const payload_file *file);

#endif
