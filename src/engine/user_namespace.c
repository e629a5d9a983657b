/*
 * user_namespace.c - see user_namespace.h
 *
 * The maps of a namespace are written from outside, by who may: a helper process that stays behind
 * for that. It also makes what takes the host's root: the mounts with other owners.
 */
#include "user_namespace.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "descriptors.h"
#include "own_devices.h"
#include "process.h"
#include "text_file.h"

/* Of Linux 5.2 and 5.12; the header of Debian 12's libc has them too. */
#ifndef OPEN_TREE_CLONE
#define OPEN_TREE_CLONE 1
#endif
#ifndef MOUNT_ATTR_IDMAP
#define MOUNT_ATTR_IDMAP 0x00100000
#endif

const char *const host_trees[HOST_TREES] = {"/usr", "/var/lib/dpkg"};

static int complain(const char *what) {
    dprintf(STDERR_FILENO, "%s: %s\n", what, strerror(errno));
    return -1;
}

static int write_map(pid_t pid, const char *name, const char *text) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%ld/%s", (long)pid, name);
    return text_file_write(path, text);
}

/* Runs newuidmap or newgidmap. */
static int run_mapper(const char *program, pid_t pid, uint32_t first, uint32_t count) {
    char target[16], start[16], size[16];
    snprintf(target, sizeof target, "%ld", (long)pid);
    snprintf(start, sizeof start, "%u", first);
    snprintf(size, sizeof size, "%u", count);
    pid_t child = fork();
    if (child == 0) {
        char *const argv[] = {(char *)program, target, "0", start, size, NULL};
        char *const environment[] = {"PATH=/usr/local/bin:/usr/bin:/bin", NULL};
        execvpe(program, argv, environment);
        dprintf(STDERR_FILENO, "%s: %s (install the package \"uidmap\")\n", program,
                strerror(errno));
        _exit(127);
    }
    int status;
    if (child < 0 || waitpid(child, &status, 0) != child)
        return complain(program);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : -1;
}

static int write_maps(const struct sandbox_ids *ids, pid_t pid) {
    char text[ID_MAP_SIZE];
    if (ids->kind == IDS_SUBORDINATE)
        return run_mapper("newgidmap", pid, ids->gid, ids->count) == 0 &&
                       run_mapper("newuidmap", pid, ids->uid, ids->count) == 0
                   ? 0
                   : -1;
    sandbox_ids_map(ids, true, text);
    if (write_map(pid, "gid_map", text) < 0)
        return complain("gid_map");
    sandbox_ids_map(ids, false, text);
    return write_map(pid, "uid_map", text) < 0 ? complain("uid_map") : 0;
}

/* A copy of the mount of a directory whose files belong to the ids that the namespace of that
 * process maps theirs to; -1 when the kernel or the file system cannot. */
static int open_mapped_tree(const char *path, int namespace_fd) {
    struct {
        uint64_t attr_set, attr_clr, propagation, userns_fd;
    } attributes = {.attr_set = MOUNT_ATTR_IDMAP, .userns_fd = (uint64_t)namespace_fd};
    int fd = (int)syscall(SYS_open_tree, AT_FDCWD, path, OPEN_TREE_CLONE | O_CLOEXEC);
    if (fd < 0)
        return -1;
    if (syscall(SYS_mount_setattr, fd, "", AT_EMPTY_PATH, &attributes, sizeof attributes) < 0) {
        close(fd);
        return -1;
    }
    return fd;
}

static void open_mounts(pid_t pid, int mounts[ROOTS_MOUNTS]) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%ld/ns/user", (long)pid);
    int namespace_fd = open(path, O_RDONLY | O_CLOEXEC);
    for (int i = 0; i < HOST_TREES; i++)
        mounts[i] = namespace_fd < 0 ? -1 : open_mapped_tree(host_trees[i], namespace_fd);
    if (namespace_fd >= 0)
        close(namespace_fd);
    mounts[MOUNT_OF_DEVICES] = own_devices_open();
}

/* One byte that says which mounts come with it. */
static int send_mounts(int socket, const int mounts[ROOTS_MOUNTS]) {
    char present = 0;
    int fds[ROOTS_MOUNTS];
    size_t count = 0;
    for (int i = 0; i < ROOTS_MOUNTS; i++) {
        if (mounts[i] < 0)
            continue;
        present = (char)(present | 1 << i);
        fds[count++] = mounts[i];
    }
    return descriptors_send(socket, &present, 1, fds, count, 0) == 1 ? 0 : -1;
}

static int receive_mounts(int socket, int mounts[ROOTS_MOUNTS]) {
    char present = 0;
    int fds[ROOTS_MOUNTS];
    size_t count, used = 0;
    if (descriptors_receive(socket, &present, 1, fds, ROOTS_MOUNTS, &count, 0) != 1)
        return -1;
    for (int i = 0; i < ROOTS_MOUNTS; i++)
        if (present & 1 << i && used < count)
            mounts[i] = fds[used++];
    return 0;
}

/* The process that stays outside. */
static void help(int socket, const struct sandbox_ids *ids, pid_t pid, bool with_mounts)
    __attribute__((noreturn));
static void help(int socket, const struct sandbox_ids *ids, pid_t pid, bool with_mounts) {
    char byte;
    int mounts[ROOTS_MOUNTS] = {-1, -1, -1};
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != pid || recv(socket, &byte, 1, 0) != 1)
        _exit(1);
    if (write_maps(ids, pid) < 0)
        _exit(1);
    if (with_mounts)
        open_mounts(pid, mounts);
    _exit(send_mounts(socket, mounts) == 0 ? 0 : 1);
}

static int enter_mapped(const struct sandbox_ids *ids, int mounts[ROOTS_MOUNTS]) {
    int ends[2], status, ignored[ROOTS_MOUNTS];
    pid_t pid = getpid();
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
        return complain("socketpair");
    bool with_mounts = mounts && ids->kind == IDS_ROOT_RANGE;
    pid_t helper = fork();
    if (helper == 0) {
        close(ends[0]);
        help(ends[1], ids, pid, with_mounts);
    }
    close(ends[1]);
    if (helper < 0)
        return complain("fork");
    if (ids->kind == IDS_ROOT_RANGE && process_become(ids->keeper_uid, ids->keeper_gid) < 0)
        return complain("cannot become an unprivileged user");
    if (unshare(CLONE_NEWUSER) < 0)
        return complain("No permissions to create a new user namespace");
    int result = send(ends[0], "", 1, MSG_NOSIGNAL) == 1 &&
                         receive_mounts(ends[0], mounts ? mounts : ignored) == 0
                     ? 0
                     : -1;
    close(ends[0]);
    if (waitpid(helper, &status, 0) != helper || !WIFEXITED(status) || WEXITSTATUS(status) != 0 ||
        result < 0) {
        dprintf(STDERR_FILENO, "the ids of the sandbox could not be mapped\n");
        return -1;
    }
    return process_become(0, 0) < 0 ? complain("cannot become root of the sandbox") : 0;
}

/* One id that is our own needs nobody's help. */
static int enter_single(const struct sandbox_ids *ids) {
    char text[ID_MAP_SIZE];
    if (unshare(CLONE_NEWUSER) < 0)
        return complain("No permissions to create a new user namespace");
    sandbox_ids_map(ids, false, text);
    if (text_file_write("/proc/self/uid_map", text) < 0)
        return complain("setting up uid map");
    sandbox_ids_map(ids, true, text);
    if (text_file_write("/proc/self/setgroups", "deny") < 0 ||
        text_file_write("/proc/self/gid_map", text) < 0)
        return complain("setting up gid map");
    return 0;
}

int user_namespace_enter(const struct sandbox_ids *ids, int mounts[ROOTS_MOUNTS]) {
    for (int i = 0; mounts && i < ROOTS_MOUNTS; i++)
        mounts[i] = -1;
    return ids->kind == IDS_SINGLE ? enter_single(ids) : enter_mapped(ids, mounts);
}
