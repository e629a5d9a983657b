#include "snapshots.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "create_fields.h"

struct snapshots {
    snapshots_config config;
    struct snapshot *first;
    size_t count;
    uint64_t size;
};

struct snapshots *snapshots_new(const snapshots_config *config) {
    struct snapshots *set = calloc(1, sizeof *set);
    if (set)
        set->config = *config;
    return set;
}

static void free_snapshot(struct snapshot *snapshot) {
    close(snapshot->fd);
    free(snapshot);
}

void snapshots_free(struct snapshots *set) {
    while (set && set->first) {
        struct snapshot *snapshot = set->first;
        set->first = snapshot->next;
        free_snapshot(snapshot);
    }
    free(set);
}

size_t snapshots_count(const struct snapshots *set) {
    return set->count;
}

uint64_t snapshots_room(const struct snapshots *set) {
    return set->size < set->config.most ? set->config.most - set->size : 0;
}

bool snapshot_name_is_valid(const char *name) {
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyz0123456789-_.";
    size_t length = strlen(name);
    return length > 0 && length <= SNAPSHOT_NAME_MAX && strspn(name, allowed) == length &&
           name[0] != '.' && !template_alias(name);
}

struct snapshot *snapshots_find(struct snapshots *set, const char *id) {
    size_t length = strlen(id), tag = strlen(SNAPSHOT_TAG);
    if (length > tag && strcmp(id + length - tag, SNAPSHOT_TAG) == 0)
        length -= tag;
    struct snapshot *snapshot = set->first;
    while (snapshot &&
           (strlen(snapshot->name) != length || memcmp(snapshot->name, id, length) != 0))
        snapshot = snapshot->next;
    return snapshot;
}

const struct snapshot *snapshots_first(const struct snapshots *set) {
    return set->first;
}

int snapshot_open_file(void) {
    int fd = open("/var/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    return fd >= 0 ? fd : open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
}

int snapshot_open(const struct snapshot *snapshot) {
    char path[40];
    snprintf(path, sizeof path, "/proc/self/fd/%d", snapshot->fd);
    return open(path, O_RDONLY | O_CLOEXEC);
}

struct snapshot *snapshots_add(struct snapshots *set, const char *name,
                               const struct sandbox_record *of, int fd) {
    static const char alphabet[] = "abcdefghijklmnopqrstuvwxyz0123456789";
    struct stat st;
    struct snapshot *snapshot = calloc(1, sizeof *snapshot);
    if (!snapshot || fstat(fd, &st) < 0 ||
        (!name && random_text(snapshot->name, SANDBOX_ID_LENGTH, alphabet) < 0)) {
        free(snapshot);
        close(fd);
        errno = ENOMEM;
        return NULL;
    }
    struct snapshot *before = name ? snapshots_find(set, name) : NULL;
    /* Each that is under way at the same time was made for the same room. */
    if ((uint64_t)st.st_size > snapshots_room(set) + (before ? before->size : 0)) {
        free(snapshot);
        close(fd);
        errno = ENOSPC;
        return NULL;
    }
    if (before)
        snapshots_remove(set, before);
    if (name) {
        strcpy(snapshot->name, name);
        snapshot->named = true;
    }
    strcpy(snapshot->sandbox_id, of->id);
    snapshot->alias = of->alias;
    snapshot->fd = fd;
    snapshot->size = (uint64_t)st.st_size;
    snapshot->next = set->first;
    set->first = snapshot;
    set->count++;
    set->size += snapshot->size;
    set->config.on_change(set->config.user);
    return snapshot;
}

void snapshots_remove(struct snapshots *set, struct snapshot *snapshot) {
    struct snapshot **link = &set->first;
    while (*link != snapshot)
        link = &(*link)->next;
    *link = snapshot->next;
    set->count--;
    set->size -= snapshot->size;
    free_snapshot(snapshot);
    set->config.on_change(set->config.user);
}

json_t *snapshot_describe(const struct snapshot *snapshot) {
    char id[SNAPSHOT_NAME_MAX + sizeof SNAPSHOT_TAG];
    snprintf(id, sizeof id, "%s" SNAPSHOT_TAG, snapshot->name);
    return snapshot->named ? json_pack("{s:s, s:[s]}", "snapshotID", id, "names", id)
                           : json_pack("{s:s, s:[]}", "snapshotID", id, "names");
}
