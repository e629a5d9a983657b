/*
 * sandbox_root.h - the file system of a sandbox: one tmpfs of bounded size that is its root, with
 * the host's programs in it.
 *
 * For the new process, as root of its user namespace, before bubblewrap: what it cannot do is said
 * on stderr. The tmpfs is mounted over a directory of the host, in a mount namespace of the process
 * alone, and bubblewrap makes its parts what the sandbox sees.
 */
#ifndef STEPBOX_SANDBOX_ROOT_H
#define STEPBOX_SANDBOX_ROOT_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "id_space.h"
#include "local_tree.h"
#include "payload.h"
#include "user_namespace.h"

/* What of /usr takes changes, in layers above the host's. */
enum system_tree {
    TREE_READONLY,
    TREE_LOCAL,   /* /usr/local */
    TREE_WRITABLE /* all, and the database of packages */
};

struct sandbox_root {
    const struct payload *payload; /* may be NULL: nothing is put into it */
    const struct sandbox_ids *ids;
    uint64_t size;   /* bytes, of all that the sandbox may write */
    int snapshot_fd; /* its files come from there instead of the payload; -1: none */
    enum system_tree tree;
    const struct local_tree *local; /* may be NULL with TREE_READONLY */
    int mounts[ROOTS_MOUNTS];
    char stage[32];    /* set: the directory that it is mounted on */
    const char *bwrap; /* a path that must not be covered */
    bool layered;      /* set, without TREE_WRITABLE: STAGE_SYSTEM is there */
    bool pts;          /* set: STAGE_PTS is there */
    bool devices;      /* set: STAGE_DEVICES is there */
};

/* Directories below the stage. */
#define STAGE_ROOT "root"
#define STAGE_SHM "shm"
#define STAGE_EMPTY "empty"       /* a file */
#define STAGE_NOTHING "nothing"   /* a directory */
#define STAGE_BOOT_ID "boot_id"   /* what /proc tells the host's start by */
#define STAGE_SETTINGS "settings" /* a /proc, for what is below sys */
#define STAGE_LOCAL "local"       /* /usr/local, with TREE_LOCAL */
#define STAGE_SYSTEM "system"     /* /usr, to be read */
#define STAGE_PTS "pts"           /* terminals, where root->pts */
#define STAGE_DEVICES "devices"   /* devices, where root->devices */

/* Chooses root->stage. */
void sandbox_root_choose_stage(struct sandbox_root *root);
/* Takes the mounts. 0, or -1. */
int sandbox_root_build(struct sandbox_root *root);

/* The directories that belong to `user`, where the rest is read-only; NULL at the end. */
extern const char *const sandbox_root_open_directories[];

#endif
