#include "bwrap_args.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "own_devices.h"

#define BOOT_ID "/proc/sys/kernel/random/boot_id"

/* On systems where they are no part of /usr. */
static const char *const system_directories[] = {"bin", "sbin", "lib", "lib32", "lib64", "libx32"};

void argument_list_free(argument_list *list) {
    free(list->bytes);
    *list = (argument_list){0};
}

static void append(argument_list *list, const char *text) {
    size_t length = strlen(text) + 1;
    if (list->failed)
        return;
    if (list->room - list->used < length) {
        size_t room = (list->room + length) * 2;
        char *bytes = realloc(list->bytes, room);
        if (!bytes) {
            list->failed = true;
            return;
        }
        list->bytes = bytes;
        list->room = room;
    }
    memcpy(list->bytes + list->used, text, length);
    list->used += length;
}

/* Adds the texts up to a NULL. */
static void add(argument_list *list, ...) __attribute__((sentinel));
static void add(argument_list *list, ...) {
    va_list texts;
    va_start(texts, list);
    const char *text;
    while ((text = va_arg(texts, const char *)))
        append(list, text);
    va_end(texts);
}

static void add_descriptor(argument_list *list, const char *option, int fd) {
    char number[16];
    snprintf(number, sizeof number, "%d", fd);
    add(list, option, number, NULL);
}

/* A part of the stage, at a place of the sandbox. */
static void add_part(argument_list *list, const struct sandbox_root *root, const char *option,
                     const char *part, const char *path) {
    char source[PATH_MAX];
    snprintf(source, sizeof source, "%s/%s", root->stage, part);
    add(list, option, source, path, NULL);
}

static void add_programs(argument_list *list, const struct sandbox_root *root) {
    if (root->layered)
        add_part(list, root, "--ro-bind", STAGE_SYSTEM, "/usr");
    else if (root->tree != TREE_WRITABLE)
        add(list, "--ro-bind", "/usr", "/usr", NULL);
    if (root->tree == TREE_LOCAL)
        add_part(list, root, "--bind", STAGE_LOCAL, LOCAL_TREE);
    for (size_t i = 0; i < sizeof system_directories / sizeof *system_directories; i++) {
        char path[32];
        snprintf(path, sizeof path, "/%s", system_directories[i]);
        struct stat st;
        if (lstat(path, &st) == 0 && S_ISDIR(st.st_mode))
            add(list, "--ro-bind", path, path, NULL);
    }
    add_part(list, root, "--ro-bind", STAGE_ROOT PAYLOAD_DIRECTORY, PAYLOAD_DIRECTORY);
}

/* What the kernel tells everybody in /proc about the host, and nobody in a sandbox needs. What only
 * the host's root may read is closed already. */
static void mask_proc(argument_list *list, const struct sandbox_root *root) {
    static const char *const files[] = {"/proc/cmdline",   "/proc/config.gz",  "/proc/consoles",
                                        "/proc/diskstats", "/proc/interrupts", "/proc/kallsyms",
                                        "/proc/keys",      "/proc/key-users",  "/proc/locks",
                                        "/proc/modules",   "/proc/swaps",      "/proc/partitions",
                                        "/proc/softirqs",  "/proc/schedstat",  "/proc/mdstat"};
    static const char *const directories[] = {"/proc/acpi", "/proc/bus", "/proc/fs", "/proc/irq",
                                              "/proc/scsi"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (access(files[i], F_OK) == 0)
            add_part(list, root, "--ro-bind", STAGE_EMPTY, files[i]);
    for (size_t i = 0; i < sizeof directories / sizeof *directories; i++)
        if (access(directories[i], F_OK) == 0)
            add_part(list, root, "--ro-bind", STAGE_NOTHING, directories[i]);
    if (access("/proc/sys", F_OK) == 0)
        add_part(list, root, "--ro-bind", STAGE_SETTINGS "/sys", "/proc/sys");
    if (access(BOOT_ID, F_OK) == 0)
        add_part(list, root, "--ro-bind", STAGE_BOOT_ID, BOOT_ID);
}

/* What keeps the sandbox's `root` harmless: it rules over the sandbox's own files, users and
 * processes, and nothing of the kernel. The agent needs one more, to drop them. */
static void add_capabilities(argument_list *list) {
    static const char *const kept[] = {"CAP_CHOWN",      "CAP_DAC_OVERRIDE", "CAP_FOWNER",
                                       "CAP_FSETID",     "CAP_KILL",         "CAP_SETGID",
                                       "CAP_SETUID",     "CAP_SETFCAP",      "CAP_NET_BIND_SERVICE",
                                       "CAP_SYS_CHROOT", "CAP_SETPCAP"};
    add(list, "--cap-drop", "ALL", NULL);
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        add(list, "--cap-add", kept[i], NULL);
}

static void add_environment(argument_list *list, const bwrap_sandbox *sandbox) {
    add(list, "--clearenv", NULL);
    add(list, "--setenv", "HOME", "/home/user", "--setenv", "USER", "user", NULL);
    add(list, "--setenv", "LOGNAME", "user", "--setenv", "SHELL", "/bin/bash", NULL);
    add(list, "--setenv", "PATH", "/home/user/.local/bin:/usr/local/bin:/usr/bin:/bin", NULL);
    add(list, "--setenv", "LANG", "C.UTF-8", NULL);
    add(list, "--setenv", "E2B_SANDBOX", "true", NULL);
    add(list, "--setenv", "E2B_SANDBOX_ID", sandbox->id, NULL);
    add(list, "--setenv", "E2B_TEMPLATE_ID", sandbox->template_id, NULL);
}

/* We are root of the sandbox's user namespace already, and in its IPC namespace. */
static void add_namespaces(argument_list *list, const struct sandbox_root *root) {
    add(list, "--unshare-pid", "--unshare-net", "--unshare-uts", "--unshare-cgroup-try",
        "--hostname", "stepbox", NULL);
    if (root->ids->kind != IDS_SINGLE)
        add_capabilities(list);
    else
        /* One more, since that root is `user` here; who enters it later has no rights on what
         * belongs to the outer one. */
        add(list, "--unshare-ipc", "--unshare-user", "--disable-userns", "--uid", "1000", "--gid",
            "1000", "--cap-drop", "ALL", NULL);
}

void bwrap_args_build(argument_list *list, const bwrap_sandbox *sandbox) {
    const struct sandbox_root *root = sandbox->root;
    add_namespaces(list, root);
    add(list, "--die-with-parent", "--new-session", "--as-pid-1", NULL);
    add_descriptor(list, "--json-status-fd", sandbox->status_fd);
    add_environment(list, sandbox);

    add_part(list, root, "--bind", STAGE_ROOT, "/");
    add_programs(list, root);
    add(list, "--proc", "/proc", NULL);
    mask_proc(list, root);
    add(list, "--dev", "/dev", NULL);
    for (const char *const *name = own_devices_names; root->devices && *name; name++) {
        char part[64], path[32];
        snprintf(part, sizeof part, STAGE_DEVICES "/%s", *name);
        snprintf(path, sizeof path, "/dev/%s", *name);
        add_part(list, root, "--dev-bind", part, path);
    }
    add_part(list, root, "--bind", STAGE_SHM, "/dev/shm");
    if (root->pts)
        add_part(list, root, "--dev-bind", STAGE_PTS, "/dev/pts");
    /* It is a tmpfs without a bound, and nothing has to be made there any more. */
    add(list, "--remount-ro", "/dev", NULL);
    if (root->ids->kind == IDS_SINGLE) {
        for (const char *const *path = sandbox_root_open_directories; *path; path++) {
            char part[64];
            snprintf(part, sizeof part, STAGE_ROOT "%s", *path);
            add_part(list, root, "--bind", part, *path);
        }
        add(list, "--remount-ro", "/", NULL);
    }
    add(list, "--chdir", "/home/user", NULL);
}
