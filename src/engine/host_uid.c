#include "host_uid.h"

#include <grp.h>
#include <stdio.h>
#include <unistd.h>

/* In order of preference. The first is left free by the usual conventions (above the users and
 * containers of systemd); the second is free too, and exists in containers that have only 65,536
 * ids. */
static const host_uid_range candidates[] = {{1879048192u, 1048576u}, {60706u, 478u}};

static bool is_mapped(FILE *map, const host_uid_range *range) {
    unsigned long long inside, outside, count;
    rewind(map);
    while (fscanf(map, "%llu %llu %llu", &inside, &outside, &count) == 3)
        if (range->first >= inside &&
            (unsigned long long)range->first + range->count <= inside + count)
            return true;
    return false;
}

bool host_uid_range_find(host_uid_range *range) {
    *range = (host_uid_range){0};
    FILE *map = fopen("/proc/self/uid_map", "re");
    if (!map)
        return false;
    for (size_t i = 0; i < sizeof candidates / sizeof *candidates && range->count == 0; i++)
        if (is_mapped(map, &candidates[i]))
            *range = candidates[i];
    fclose(map);
    return range->count > 0;
}

int host_uid_become(uid_t uid) {
    gid_t gid = (gid_t)uid;
    if (setgroups(0, NULL) < 0 || setresgid(gid, gid, gid) < 0 || setresuid(uid, uid, uid) < 0)
        return -1;
    return 0;
}
