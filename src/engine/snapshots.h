/*
 * snapshots.h - the files of sandboxes as they once were, for new sandboxes to begin with.
 *
 * A snapshot is a file without a name in /var/tmp: it lives as long as the engine, and no longer.
 * Snapshots count as use: an engine that has some does not leave as idle.
 */
#ifndef STEPBOX_SNAPSHOTS_H
#define STEPBOX_SNAPSHOTS_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "sandbox_record.h"

#define SNAPSHOT_TAG ":default"
#define SNAPSHOT_NAME_MAX 40

struct snapshots;

struct snapshot {
    struct snapshot *next; /* the newest first */
    /* The client's name, or random: what comes before SNAPSHOT_TAG in its id. */
    char name[SNAPSHOT_NAME_MAX + 1];
    bool named;
    char sandbox_id[SANDBOX_ID_LENGTH + 1]; /* of whom it is */
    const char *alias;                      /* of that one's template, static */
    int fd;
    uint64_t size;
};

typedef struct snapshots_config {
    uint64_t most;                 /* bytes of all together */
    void (*on_change)(void *user); /* one came or went */
    void *user;
} snapshots_config;

/* NULL when out of memory. */
struct snapshots *snapshots_new(const snapshots_config *config);
void snapshots_free(struct snapshots *set);
size_t snapshots_count(const struct snapshots *set);
/* Bytes that there is room for. */
uint64_t snapshots_room(const struct snapshots *set);

/* Whether a client may choose this name: not a template's, and letters that need no quoting. */
bool snapshot_name_is_valid(const char *name);
/* By id, with or without the tag; NULL when there is none. */
struct snapshot *snapshots_find(struct snapshots *set, const char *id);
/* The newest one; the others by their `next`. */
const struct snapshot *snapshots_first(const struct snapshots *set);

/* An open file for an archive that nobody else can see; -1 with errno. */
int snapshot_open_file(void);
/* A file for reading it from the start; -1 with errno. */
int snapshot_open(const struct snapshot *snapshot);

/* Keeps an archive (taken, also on failure). name: NULL for a random one; one of the same name
 * goes. NULL with errno. */
struct snapshot *snapshots_add(struct snapshots *set, const char *name,
                               const struct sandbox_record *of, int fd);
void snapshots_remove(struct snapshots *set, struct snapshot *snapshot);

/* SnapshotInfo of the API; NULL when out of memory. */
json_t *snapshot_describe(const struct snapshot *snapshot);

#endif
