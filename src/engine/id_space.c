#include "id_space.h"

#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Ids that packages may ask for go up to nobody (65534). */
#define WHOLE_SLICE 65536u
/* Enough for 0 to 1000, and small enough that a usual range of 65,536 has some for many sandboxes.
 */
#define SMALL_SLICE 1024u

/* For root, in order of preference; the first id of each is the keeper's. The first range is left
 * free by systemd's conventions, between its containers and its foreign ids. The second is free
 * too, and exists in containers that have only 65,536 ids. */
static const struct {
    uint32_t first, count, slice;
} candidates[] = {{0x70000000u, 0x0ff00000u, WHOLE_SLICE}, {60706u, 478u, 2}};

/* One line of /proc/self/uid_map: ids of our user namespace, and of the one outside. */
struct mapping {
    unsigned long long inside, outside, count;
};

static bool next_mapping(FILE *map, struct mapping *m) {
    return fscanf(map, "%llu %llu %llu", &m->inside, &m->outside, &m->count) == 3;
}

static bool has_range(const char *path, uint32_t first, uint32_t count) {
    FILE *map = fopen(path, "re");
    struct mapping m;
    bool found = false;
    while (map && !found && next_mapping(map, &m))
        found = first >= m.inside && (unsigned long long)first + count <= m.inside + m.count;
    if (map)
        fclose(map);
    return found;
}

/* Whether root in here is root outside, as far as that can be seen. */
static bool root_is_root(void) {
    FILE *map = fopen("/proc/self/uid_map", "re");
    struct mapping m;
    bool is_root = true, found = false;
    while (map && !found && next_mapping(map, &m)) {
        found = m.inside == 0;
        is_root = m.outside == 0;
    }
    if (map)
        fclose(map);
    return is_root || !found;
}

static int find_root_range(struct id_space *space) {
    for (size_t i = 0; i < sizeof candidates / sizeof *candidates; i++) {
        uint32_t first = candidates[i].first, count = candidates[i].count;
        if (!has_range("/proc/self/uid_map", first, count) ||
            !has_range("/proc/self/gid_map", first, count))
            continue;
        uint32_t slice = candidates[i].slice;
        *space = (struct id_space){.kind = IDS_ROOT_RANGE,
                                   .first_uid = first + slice, /* behind the keeper's */
                                   .first_gid = first + slice,
                                   .slices = count / slice - 1,
                                   .slice = slice,
                                   .keeper_uid = (uid_t)first,
                                   .keeper_gid = (gid_t)first};
        return 0;
    }
    snprintf(space->why, sizeof space->why, "the engine is root of a user namespace of few ids");
    return root_is_root() ? -1 : 0;
}

/* The first range of a user in /etc/subuid or /etc/subgid ("name:first:count"). Both name the user,
 * also that of groups. */
static bool find_subordinate(const char *path, const char *name, uid_t uid, uint32_t *first,
                             uint32_t *count) {
    FILE *file = fopen(path, "re");
    char line[256], number[16];
    bool found = false;
    snprintf(number, sizeof number, "%lu", (unsigned long)uid);
    while (file && !found && fgets(line, sizeof line, file)) {
        char *colon = strchr(line, ':');
        unsigned long start, size;
        if (!colon || sscanf(colon, ":%lu:%lu", &start, &size) != 2)
            continue;
        *colon = '\0';
        if ((strcmp(line, name) != 0 && strcmp(line, number) != 0) || size < SMALL_SLICE ||
            size > UINT32_MAX || start == 0 || start > UINT32_MAX - size)
            continue;
        *first = (uint32_t)start;
        *count = (uint32_t)size;
        found = true;
    }
    if (file)
        fclose(file);
    return found;
}

static void find_subordinate_range(struct id_space *space) {
    uid_t uid = geteuid();
    const struct passwd *entry = getpwuid(uid);
    const char *name = entry ? entry->pw_name : "";
    uint32_t uids, gids;
    if (!find_subordinate("/etc/subuid", name, uid, &space->first_uid, &uids) ||
        !find_subordinate("/etc/subgid", name, uid, &space->first_gid, &gids)) {
        snprintf(space->why, sizeof space->why,
                 "/etc/subuid and /etc/subgid have no range of %u ids for this user", SMALL_SLICE);
        return;
    }
    space->kind = IDS_SUBORDINATE;
    space->slice = SMALL_SLICE;
    space->slices = (uids < gids ? uids : gids) / SMALL_SLICE;
}

int id_space_find(struct id_space *space) {
    *space =
        (struct id_space){.kind = IDS_SINGLE, .keeper_uid = geteuid(), .keeper_gid = getegid()};
    if (geteuid() == 0)
        return find_root_range(space);
    find_subordinate_range(space);
    return 0;
}

void id_space_cut(const struct id_space *space, uint32_t number, struct sandbox_ids *ids) {
    *ids = (struct sandbox_ids){.kind = space->kind,
                                .uid = space->keeper_uid,
                                .gid = space->keeper_gid,
                                .count = 1,
                                .keeper_uid = space->keeper_uid,
                                .keeper_gid = space->keeper_gid};
    if (space->kind == IDS_SINGLE)
        return;
    uint32_t offset = number % space->slices * space->slice;
    ids->uid = space->first_uid + offset;
    ids->gid = space->first_gid + offset;
    ids->count = space->slice;
}

void sandbox_ids_map(const struct sandbox_ids *ids, bool groups, char text[ID_MAP_SIZE]) {
    unsigned first = groups ? ids->gid : ids->uid;
    if (ids->count == 2)
        snprintf(text, ID_MAP_SIZE, "0 %u 1\n%d %u 1\n", first, SANDBOX_UID, first + 1);
    else
        snprintf(text, ID_MAP_SIZE, "0 %u %u\n", first, ids->count);
}
