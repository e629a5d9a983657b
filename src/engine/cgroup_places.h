/*
 * cgroup_places.h - where this process is in the hierarchies of control groups: one of version 2,
 * and on older and hybrid hosts several of version 1.
 *
 * The parser takes the text of /proc/self/mountinfo and /proc/self/cgroup and calls nobody.
 */
#ifndef STEPBOX_CGROUP_PLACES_H
#define STEPBOX_CGROUP_PLACES_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

/* The controllers that limits need. In version 2 `cpuacct` is part of `cpu`, and every group can be
 * frozen. */
enum cgroup_controller {
    CGROUP_MEMORY = 1 << 0,
    CGROUP_PIDS = 1 << 1,
    CGROUP_CPU = 1 << 2,
    CGROUP_CPUACCT = 1 << 3,
    CGROUP_FREEZER = 1 << 4,
};

/* Hierarchies of version 1 at most, and the one of version 2. */
#define CGROUP_PLACES_MAX 6

struct cgroup_place {
    char mount[PATH_MAX]; /* where the hierarchy is mounted */
    char path[PATH_MAX];  /* of our own group: the mount and what is below it */
    bool unified;         /* version 2 */
    unsigned controllers; /* of version 1; for version 2 the group's own file says */
};

/* Returns how many there are. Hierarchies without a controller that we need, and those in whose
 * mount our group cannot be seen, are left out. */
size_t cgroup_places_parse(const char *mountinfo, const char *own,
                           struct cgroup_place places[CGROUP_PLACES_MAX]);

/* The same for this process. */
size_t cgroup_places_find(struct cgroup_place places[CGROUP_PLACES_MAX]);

#endif
