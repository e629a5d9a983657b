/*
 * cgroups_internal.h - what the parts share: cgroups.c (making, joining, removing), cgroup_v1.c and
 * cgroup_v2.c (the files of the two versions), cgroup_base.c (the engine's own group), cgroup_oom.c
 * (want of memory), cgroup_sweep.c (what other engines have left).
 */
#ifndef STEPBOX_CGROUPS_INTERNAL_H
#define STEPBOX_CGROUPS_INTERNAL_H

#include "cgroups.h"

#include "cgroup_places.h"

/* Names of the groups of engines begin with it. */
#define CGROUP_PREFIX "stepbox-"
/* Of an id, and of the name of an engine's group. */
#define CGROUP_NAME_MAX 96
/* What follows the name in that of the group to which an engine moves that has to make room. */
#define CGROUP_ENGINE_SUFFIX "-engine"

/* One in which sandboxes have a group. */
struct cgroup_hierarchy {
    int fd; /* the engine's group */
    int parent_fd;
    unsigned controllers;
};

struct cgroup_version {
    const char *name;
    /* Applies limits to a new group. 0, or -1 with errno. */
    int (*limit)(const struct cgroup *group, const struct limits *limits);
    void (*read_stats)(const struct cgroup *group, struct cgroup_stats *stats);
    int (*freeze)(const struct cgroup *group, bool freeze);
    bool (*is_frozen)(const struct cgroup *group);
    void (*kill)(const struct cgroup *group);
    /* Has the kernel tell when it ends processes: on a descriptor of the group (returned), or on
     * cgroups->oom_fd (then -1). */
    int (*watch_oom)(const struct cgroup *group);
};

extern const struct cgroup_version cgroup_v1, cgroup_v2;

struct cgroups {
    struct ev_loop *loop;
    const struct cgroup_version *version; /* NULL: no groups */
    char base[CGROUP_NAME_MAX];
    struct cgroup_hierarchy hierarchies[CGROUP_PLACES_MAX];
    size_t count;
    unsigned controllers; /* of all hierarchies */
    char reason[384];     /* why there are no groups, or not all controllers */
    struct cgroup *first; /* those in use */
    struct cgroup *dying; /* to be removed */
    ev_timer retry;
    ev_timer sweep; /* while processes of an engine that is gone are still dying */
    int sweeps;
    int oom_fd; /* inotify for the groups of version 2, or -1: one for all, users may have few */
    ev_io oom;
};

struct cgroup {
    struct cgroups *cgroups;
    struct cgroup *next, *previous;
    char name[CGROUP_NAME_MAX];
    cgroup_oom *on_oom;
    void *user;
    int64_t kills; /* told */
    int oom_fd;
    ev_io oom;
    ev_timer oom_delay; /* the kernel tells before it kills */
    int delays;
};

/* Processors of this host. */
long cgroup_processors(void);
/* The hierarchy with a controller, as a descriptor of the engine's group; -1 when there is none. */
int cgroup_hierarchy_fd(const struct cgroup *group, unsigned controller);
/* Kills every process that the group lists. Returns false when there was none. */
bool cgroup_kill_listed(int directory, const char *group);

/* cgroup_oom.c: of all groups; what version 2 has one descriptor for is opened apart. */
void cgroup_oom_init(struct cgroups *cgroups);
void cgroup_oom_open(struct cgroups *cgroups);
void cgroup_oom_close(struct cgroups *cgroups);
/* Of one, from its making to its end. */
void cgroup_oom_watch(struct cgroup *group);
void cgroup_oom_forget(struct cgroup *group);

/* cgroup_sweep.c: the name for the group of this process. 0, or -1 with errno. */
int cgroup_own_name(char name[CGROUP_NAME_MAX]);

/* cgroup_base.c: makes the engine's group in each hierarchy that can be written to, and moves
 * whoever has to make room. 0, or -1 with cgroups->reason. */
int cgroup_base_make(struct cgroups *cgroups, int64_t all_memory);
/* Removes it where that is possible. */
void cgroup_base_remove(struct cgroups *cgroups);

#endif
