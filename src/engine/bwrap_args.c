#include "bwrap_args.h"

#include <glob.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* What programs under /usr want from /etc. Each is public on any host: no accounts, no keys, no
 * addresses. */
static const char *const host_etc[] = {
    "/etc/alternatives", /* where /usr/bin/java and others lead */
    "/etc/ld.so.cache",  /* where libraries are */
    "/etc/ld.so.conf",      "/etc/ld.so.conf.d",   "/etc/ssl/certs", /* public certificates; not
                                                                        /etc/ssl/private */
    "/etc/ca-certificates", "/etc/fonts",          "/etc/localtime",    "/etc/timezone",
    "/etc/mime.types",      "/etc/services",       "/etc/protocols",    "/etc/inputrc",
    "/etc/bash.bashrc",     "/etc/profile",        "/etc/matplotlibrc", "/etc/python3*",
    "/etc/java-*", /* the settings of OpenJDK, which /usr/lib/jvm links to */
    "/etc/R/Renviron",      "/etc/R/ldpaths", /* not *.site: administrators keep tokens there */
    "/etc/R/Makeconf",      "/etc/R/repositories", "/etc/R/javaconf",
};

/* Part of /usr on merged systems (then a link), directories of their own on others. */
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

static void add_tmpfs(argument_list *list, const char *path, const char *mode, uint64_t size) {
    char bytes[32];
    snprintf(bytes, sizeof bytes, "%llu", (unsigned long long)size);
    add(list, "--perms", mode, "--size", bytes, "--tmpfs", path, NULL);
}

static void add_programs(argument_list *list) {
    add(list, "--ro-bind", "/usr", "/usr", NULL);
    for (size_t i = 0; i < sizeof system_directories / sizeof *system_directories; i++) {
        char path[32], target[256];
        snprintf(path, sizeof path, "/%s", system_directories[i]);
        struct stat st;
        if (lstat(path, &st) < 0)
            continue;
        ssize_t length = S_ISLNK(st.st_mode) ? readlink(path, target, sizeof target - 1) : -1;
        if (length > 0) {
            target[length] = '\0';
            add(list, "--symlink", target, path, NULL);
        } else if (S_ISDIR(st.st_mode)) {
            add(list, "--ro-bind", path, path, NULL);
        }
    }
}

static void add_etc(argument_list *list) {
    for (size_t i = 0; i < sizeof host_etc / sizeof *host_etc; i++) {
        glob_t found;
        if (glob(host_etc[i], 0, NULL, &found) != 0)
            continue;
        for (size_t j = 0; j < found.gl_pathc; j++)
            add(list, "--ro-bind-try", found.gl_pathv[j], found.gl_pathv[j], NULL);
        globfree(&found);
    }
}

/* Copies, in the root directory's own file system: read-only with it in the end. */
static void add_payload(argument_list *list, const bwrap_sandbox *sandbox) {
    for (size_t i = 0; i < sandbox->payload->count; i++) {
        const payload_file *file = &sandbox->payload->files[i];
        char mode[8];
        snprintf(mode, sizeof mode, "%04o", (unsigned)file->mode);
        add(list, "--perms", mode, NULL);
        add_descriptor(list, "--file", sandbox->data_fds[i]);
        add(list, file->path, NULL);
    }
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

void bwrap_args_build(argument_list *list, const bwrap_sandbox *sandbox) {
    /* --unshare-all alone would go on without a user namespace where there is none. */
    add(list, "--unshare-user", "--unshare-all", "--disable-userns", NULL);
    add(list, "--uid", "1000", "--gid", "1000", "--cap-drop", "ALL", "--hostname", "stepbox", NULL);
    add(list, "--die-with-parent", "--new-session", "--as-pid-1", NULL);
    add_descriptor(list, "--json-status-fd", sandbox->status_fd);
    add_environment(list, sandbox);

    add_programs(list);
    /* bwrap would make them for the user alone. */
    add(list, "--perms", "0755", "--dir", "/etc", "--perms", "0755", "--dir", "/etc/ssl", NULL);
    add_etc(list);
    add_payload(list, sandbox);
    add(list, "--proc", "/proc", "--dev", "/dev", NULL);
    add_tmpfs(list, "/dev/shm", "1777", SANDBOX_SHM_SIZE);
    add_tmpfs(list, "/home/user", "0755", (uint64_t)sandbox->disk);
    add_tmpfs(list, "/tmp", "1777", SANDBOX_TMP_SIZE);
    add_tmpfs(list, "/var/tmp", "1777", SANDBOX_VAR_TMP_SIZE);
    add_tmpfs(list, "/run", "0755", SANDBOX_RUN_SIZE);
    /* Both are tmpfs without a bound, and nothing has to be made there any more. */
    add(list, "--remount-ro", "/dev", "--remount-ro", "/", NULL);
    add(list, "--chdir", "/home/user", NULL);
}
