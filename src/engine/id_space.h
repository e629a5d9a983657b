/*
 * id_space.h - which users and groups of the host stand behind those of a sandbox.
 *
 * In a sandbox there are `root` (0) and `user` (1000), and with a large enough range all others
 * that packages bring. On the host they are ids that nobody else has: of a range that is free by
 * convention when the engine runs as root, of the range in /etc/subuid and /etc/subgid otherwise.
 * Where there is neither, the engine's own user stands behind `user`, and there is no `root`.
 *
 * The user namespaces belong to the keeper: an unprivileged user of the host when the engine runs
 * as root, or else the engine's own user. Its processes may enter the sandboxes; root's need not.
 */
#ifndef STEPBOX_ID_SPACE_H
#define STEPBOX_ID_SPACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum ids_kind {
    IDS_SINGLE,     /* `user` alone, who is the engine's own user */
    IDS_ROOT_RANGE, /* the engine is root, and writes the maps itself */
    IDS_SUBORDINATE /* newuidmap and newgidmap write them */
};

#define SANDBOX_UID 1000 /* `user`, in the sandbox; the same number is its group */

struct id_space {
    enum ids_kind kind;
    uint32_t first_uid, first_gid; /* what the slices are cut from */
    uint32_t slices;
    uint32_t slice; /* ids of one sandbox; 2: only those of `root` and `user` */
    uid_t keeper_uid;
    gid_t keeper_gid;
    char why[160]; /* why it is IDS_SINGLE, in words for people */
};

/* What one sandbox gets. */
struct sandbox_ids {
    enum ids_kind kind;
    uint32_t uid, gid; /* on the host, of the sandbox's 0 */
    uint32_t count;
    uid_t keeper_uid;
    gid_t keeper_gid;
};

/* Looks what this host offers. 0; or -1 when we are root, and there is no unprivileged user to
 * become. */
int id_space_find(struct id_space *space);

/* The slice with this number, modulo their count. */
void id_space_cut(const struct id_space *space, uint32_t number, struct sandbox_ids *ids);

/* The lines of /proc/PID/uid_map, or of gid_map. */
#define ID_MAP_SIZE 96
void sandbox_ids_map(const struct sandbox_ids *ids, bool groups, char text[ID_MAP_SIZE]);

#endif
