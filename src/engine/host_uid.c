#include "host_uid.h"

#include <grp.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

/* In order of preference. The first is left free by the usual conventions (above the users and
 * containers of systemd); the second is free too, and exists in containers that have only 65,536
 * ids. */
static const host_uid_range candidates[] = {{1879048192u, 1048576u}, {60706u, 478u}};

/* One line of /proc/self/uid_map: ids of our user namespace, and of the one outside. */
struct mapping {
    unsigned long long inside, outside, count;
};

static bool next_mapping(FILE *map, struct mapping *m) {
    return fscanf(map, "%llu %llu %llu", &m->inside, &m->outside, &m->count) == 3;
}

static bool has_range(FILE *map, const host_uid_range *range) {
    struct mapping m;
    rewind(map);
    while (next_mapping(map, &m))
        if (range->first >= m.inside &&
            (unsigned long long)range->first + range->count <= m.inside + m.count)
            return true;
    return false;
}

/* Whether root in here is root outside, as far as that can be seen. */
static bool root_is_root(FILE *map) {
    struct mapping m;
    rewind(map);
    while (next_mapping(map, &m))
        if (m.inside == 0)
            return m.outside == 0;
    return true;
}

int host_uid_range_find(host_uid_range *range) {
    *range = (host_uid_range){0};
    if (geteuid() != 0)
        return 0;
    FILE *map = fopen("/proc/self/uid_map", "re");
    if (!map)
        return -1;
    for (size_t i = 0; i < sizeof candidates / sizeof *candidates && range->count == 0; i++)
        if (has_range(map, &candidates[i]))
            *range = candidates[i];
    int result = range->count == 0 && root_is_root(map) ? -1 : 0;
    fclose(map);
    return result;
}

int host_uid_become(uid_t uid) {
    gid_t gid = (gid_t)uid;
    if (setgroups(0, NULL) < 0 || setresgid(gid, gid, gid) < 0 || setresuid(uid, uid, uid) < 0)
        return -1;
    return 0;
}
