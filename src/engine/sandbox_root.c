#include "sandbox_root.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kernel_settings.h"
#include "own_devices.h"
#include "sandbox_layers.h"
#include "snapshot_tar.h"

/* A file takes about a kilobyte of the kernel's memory, and empty ones take no other. */
#define BYTES_PER_FILE 4096

/* So many a sandbox may have at a time. */
#define TERMINALS "128"

/* What a system has, and programs count on. Those before them are made first. */
static const struct {
    const char *path;
    mode_t mode;
    bool of_user;
} directories[] = {
    {"dev", 0755, false},
    {"etc", 0755, false},
    {"etc/apt", 0755, false},
    {"etc/apt/preferences.d", 0755, false},
    {"etc/dpkg", 0755, false},
    {"etc/dpkg/dpkg.cfg.d", 0755, false},
    {"home", 0755, false},
    {"home/user", 0755, true},
    {"media", 0755, false},
    {"mnt", 0755, false},
    {"opt", 0755, false},
    {"proc", 0755, false},
    {"root", 0700, false},
    {"run", 0755, false},
    {"run/lock", 01777, false},
    {"run/user", 0755, false},
    {"run/user/1000", 0700, true},
    {"srv", 0755, false},
    {"sys", 0755, false},
    {"tmp", 01777, false},
    {"usr", 0755, false},
    {"var", 0755, false},
    {"var/cache", 0755, false},
    {"var/cache/apt", 0755, false},
    {"var/cache/apt/archives", 0755, false},
    {"var/cache/apt/archives/partial", 0700, false},
    {"var/cache/debconf", 0755, false},
    {"var/lib", 0755, false},
    {"var/lib/apt", 0755, false},
    {"var/lib/apt/lists", 0755, false},
    {"var/lib/apt/lists/partial", 0700, false},
    {"var/lib/dpkg", 0755, false},
    {"var/local", 0755, false},
    {"var/log", 0755, false},
    {"var/log/apt", 0755, false},
    {"var/mail", 0755, false},
    {"var/spool", 0755, false},
    {"var/tmp", 01777, false},
};

const char *const sandbox_root_open_directories[] = {"/home/user", "/tmp", "/var/tmp", "/run",
                                                     NULL};

/* Part of /usr on merged systems (then a link), directories of their own on others. */
static const char *const system_directories[] = {"bin", "sbin", "lib", "lib32", "lib64", "libx32"};

int sandbox_root_complain(const char *what, const char *path) {
    dprintf(STDERR_FILENO, "the sandbox's file system could not be made: %s %s: %s\n", what, path,
            strerror(errno));
    return -1;
}

void sandbox_root_choose_stage(struct sandbox_root *root) {
    static const char *const candidates[] = {"/mnt", "/media", "/srv", "/tmp"};
    struct stat st;
    for (size_t i = 0; i < sizeof candidates / sizeof *candidates; i++) {
        size_t length = strlen(candidates[i]);
        snprintf(root->stage, sizeof root->stage, "%s", candidates[i]);
        if (lstat(candidates[i], &st) == 0 && S_ISDIR(st.st_mode) &&
            (strncmp(root->bwrap, candidates[i], length) != 0 || root->bwrap[length] != '/'))
            return;
    }
}

static int mount_stage(const struct sandbox_root *root) {
    char options[128];
    unsigned long long size = root->size;
    snprintf(options, sizeof options, "mode=0755,size=%llu,nr_inodes=%llu", size,
             size / BYTES_PER_FILE + 1024);
    if (unshare(CLONE_NEWNS) < 0)
        return sandbox_root_complain("a new mount namespace", "");
    if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
        return sandbox_root_complain("mount", "/");
    return mount("stepbox", root->stage, "tmpfs", MS_NOSUID | MS_NODEV, options) < 0
               ? sandbox_root_complain("mount", root->stage)
               : 0;
}

static int make_directory(int at, const char *path, mode_t mode, bool of_user) {
    if (mkdirat(at, path, mode) < 0 && errno != EEXIST)
        return sandbox_root_complain("mkdir", path);
    if (of_user && fchownat(at, path, SANDBOX_UID, SANDBOX_UID, AT_SYMLINK_NOFOLLOW) < 0)
        return sandbox_root_complain("chown", path);
    /* The umask, and chown, may have taken bits. */
    return fchmodat(at, path, mode, 0) < 0 ? sandbox_root_complain("chmod", path) : 0;
}

/* Makes the directories that lead to a path. */
static int make_parents(int at, const char *path) {
    char parent[PATH_MAX];
    for (const char *slash = path; (slash = strchr(slash, '/')); slash++) {
        memcpy(parent, path, (size_t)(slash - path));
        parent[slash - path] = '\0';
        if (mkdirat(at, parent, 0755) < 0 && errno != EEXIST)
            return sandbox_root_complain("mkdir", parent);
    }
    return 0;
}

/* Writes a new file, or says with errno why it could not be made. */
static int write_entry_file(int at, const payload_entry *entry, const char *path) {
    int fd =
        openat(at, path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, entry->mode & 07777);
    if (fd < 0)
        return -1;
    size_t done = 0;
    ssize_t wrote = 1;
    while (done < entry->size && (wrote = write(fd, entry->data + done, entry->size - done)) > 0)
        done += (size_t)wrote;
    int saved = errno;
    close(fd);
    errno = saved;
    return done == entry->size ? 0 : -1;
}

static int put_once(int at, const payload_entry *entry, const char *path) {
    if (S_ISDIR(entry->mode))
        return mkdirat(at, path, 0755) < 0 && errno != EEXIST ? -1 : 0;
    return S_ISLNK(entry->mode) ? symlinkat(entry->data, at, path)
                                : write_entry_file(at, entry, path);
}

/* There are hundreds of them: what most need not is done only when it turns out to be missing. */
static int put(int at, const payload_entry *entry) {
    const char *path = entry->path + 1; /* they are absolute */
    int result = put_once(at, entry, path);
    if (result < 0 && errno == ENOENT && make_parents(at, path) == 0)
        result = put_once(at, entry, path);
    if (result < 0 && errno == EEXIST && unlinkat(at, path, 0) == 0)
        result = put_once(at, entry, path); /* the sandbox's own comes behind the host's */
    return result < 0 ? sandbox_root_complain("put", path) : 0;
}

/* /bin and its like, as the host has them; directories of their own are bubblewrap's to bind. */
static int link_system_directories(int at) {
    for (size_t i = 0; i < sizeof system_directories / sizeof *system_directories; i++) {
        char path[32], target[256];
        snprintf(path, sizeof path, "/%s", system_directories[i]);
        ssize_t length = readlink(path, target, sizeof target - 1);
        if (length <= 0)
            continue;
        target[length] = '\0';
        if (symlinkat(target, at, system_directories[i]) < 0)
            return sandbox_root_complain("link", path);
    }
    return symlinkat("/run", at, "var/run") < 0 || symlinkat("/run/lock", at, "var/lock") < 0
               ? sandbox_root_complain("link", "/var/run")
               : 0;
}

/* A snapshot has everything else, or its sandbox has removed it. */
static bool is_needed(const struct sandbox_root *root, const payload_entry *entry) {
    static const char own[] = PAYLOAD_DIRECTORY "/";
    return root->snapshot_fd < 0 || strncmp(entry->path, own, sizeof own - 1) == 0;
}

static int fill(const struct sandbox_root *root, int at) {
    bool has_user = root->ids->kind != IDS_SINGLE; /* else everything is the user's */
    umask(0);
    for (size_t i = 0; i < sizeof directories / sizeof *directories; i++)
        if (make_directory(at, directories[i].path, directories[i].mode,
                           has_user && directories[i].of_user) < 0)
            return -1;
    if (link_system_directories(at) < 0)
        return -1;
    for (size_t i = 0; root->payload && i < root->payload->count; i++)
        if (is_needed(root, &root->payload->entries[i]) && put(at, &root->payload->entries[i]) < 0)
            return -1;
    umask(022);
    return 0;
}

/* bubblewrap's own have no bound, and the kernel has one for all sandboxes together
 * (kernel.pty.max). Where they cannot be made, bubblewrap's are there. */
static bool mount_terminals(const struct sandbox_root *root) {
    char target[64];
    snprintf(target, sizeof target, "%s/" STAGE_PTS, root->stage);
    return mkdir(target, 0755) == 0 &&
           mount("devpts", target, "devpts", MS_NOSUID | MS_NOEXEC,
                 "newinstance,ptmxmode=0666,mode=620,max=" TERMINALS) == 0;
}

/* A number that tells nobody which host this is, in the form of a UUID of random bits. */
static int make_boot_id(int stage) {
    unsigned char b[16];
    char text[64];
    if (getrandom(b, sizeof b, 0) != sizeof b)
        return sandbox_root_complain("getrandom", "");
    b[6] = (unsigned char)((b[6] & 0x0f) | 0x40);
    b[8] = (unsigned char)((b[8] & 0x3f) | 0x80);
    int length = snprintf(text, sizeof text,
                          "%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x\n",
                          b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11],
                          b[12], b[13], b[14], b[15]);
    int fd = openat(stage, STAGE_BOOT_ID, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0444);
    if (fd < 0 || write(fd, text, (size_t)length) != length)
        return sandbox_root_complain("write", STAGE_BOOT_ID);
    close(fd);
    return 0;
}

static int mount_settings(const struct sandbox_root *root) {
    char target[64];
    snprintf(target, sizeof target, "%s/" STAGE_SETTINGS, root->stage);
    return kernel_settings_mount(target) < 0 ? sandbox_root_complain("mount", target) : 0;
}

int sandbox_root_build(struct sandbox_root *root) {
    char path[64];
    if (mount_stage(root) < 0)
        return -1;
    int stage = open(root->stage, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (stage < 0 || make_directory(stage, STAGE_ROOT, 0755, false) < 0 ||
        make_directory(stage, STAGE_SHM, 01777, false) < 0 ||
        make_directory(stage, STAGE_LOCAL, 0755, false) < 0 ||
        make_directory(stage, STAGE_NOTHING, 0555, false) < 0 ||
        mknodat(stage, STAGE_EMPTY, S_IFREG | 0444, 0) < 0 || make_boot_id(stage) < 0)
        return sandbox_root_complain("open", root->stage);
    snprintf(path, sizeof path, "%s/" STAGE_ROOT, root->stage);
    int at = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (at < 0)
        return sandbox_root_complain("open", path);
    int result = fill(root, at);
    close(at);
    close(stage);
    if (result == 0 && root->snapshot_fd >= 0)
        result = snapshot_tar_unpack(root->stage, root->snapshot_fd);
    if (result == 0)
        result = mount_settings(root);
    snprintf(path, sizeof path, "%s/" STAGE_DEVICES, root->stage);
    root->devices = result == 0 && own_devices_mount(root->mounts[MOUNT_OF_DEVICES], path);
    root->pts = result == 0 && mount_terminals(root);
    if (result == 0)
        result = sandbox_layers_put(root);
    for (int i = 0; i < ROOTS_MOUNTS; i++) {
        if (root->mounts[i] >= 0)
            close(root->mounts[i]);
        root->mounts[i] = -1;
    }
    return result;
}
