#include "sandbox_etc.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Bytes of the largest file that is taken, and how deep a directory is. */
#define MAX_FILE ((size_t)4 * 1024 * 1024)
#define MAX_DEPTH 6

/* The sandbox's own; nothing of the host's users or hosts is in it. Besides `user`, the accounts
 * are those that every Debian system has under these numbers, since packages count on them. */
static const struct {
    const char *path;
    mode_t mode;
    const char *text;
} own[] = {
    {"/etc/passwd", 0644,
     "root:x:0:0:root:/root:/bin/bash\n"
     "daemon:x:1:1:daemon:/usr/sbin:/usr/sbin/nologin\n"
     "bin:x:2:2:bin:/bin:/usr/sbin/nologin\n"
     "sys:x:3:3:sys:/dev:/usr/sbin/nologin\n"
     "man:x:6:12:man:/var/cache/man:/usr/sbin/nologin\n"
     "mail:x:8:8:mail:/var/mail:/usr/sbin/nologin\n"
     "www-data:x:33:33:www-data:/var/www:/usr/sbin/nologin\n"
     "user:x:1000:1000:user:/home/user:/bin/bash\n"
     "nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n"},
    {"/etc/group", 0644,
     "root:x:0:\ndaemon:x:1:\nbin:x:2:\nsys:x:3:\nadm:x:4:\ntty:x:5:\ndisk:x:6:\n"
     "mail:x:8:\nman:x:12:\nkmem:x:15:\nsudo:x:27:\naudio:x:29:\nwww-data:x:33:\n"
     "shadow:x:42:\nutmp:x:43:\nvideo:x:44:\nplugdev:x:46:\nstaff:x:50:\ngames:x:60:\n"
     "users:x:100:\nuser:x:1000:\nnogroup:x:65534:\n"},
    {"/etc/shadow", 0600, "root:*:1::::::\nuser:*:1::::::\nnobody:*:1::::::\n"},
    {"/etc/gshadow", 0600, "root:*::\nuser:*::\nnogroup:*::\n"},
    {"/etc/hosts", 0644, "127.0.0.1 localhost\n::1 localhost\n127.0.1.1 stepbox\n"},
    /* Names no resolver; a file that does is put over it when there is a network. */
    {"/etc/resolv.conf", 0644, "# This sandbox has no network.\n"},
    {"/etc/hostname", 0644, "stepbox\n"},
    {"/etc/shells", 0644, "/bin/sh\n/bin/bash\n/usr/bin/sh\n/usr/bin/bash\n"},
    {"/etc/nsswitch.conf", 0644,
     "passwd: files\ngroup: files\nshadow: files\nhosts: files dns\nservices: files\n"
     "protocols: files\n"},
    /* The accounts that apt changes to have no ids where the range is small. */
    {"/etc/apt/apt.conf.d/50stepbox", 0644, "APT::Sandbox::User \"root\";\n"},
};

/* What programs under /usr want from /etc. Each is public on any host: no accounts, no keys, no
 * addresses. */
static const char *const of_host[] = {
    "/etc/alternatives", /* where /usr/bin/java and others lead */
    "/etc/ld.so.cache",  /* where libraries are */
    "/etc/ld.so.conf", "/etc/ld.so.conf.d",
    "/etc/ssl/certs", /* public certificates; not /etc/ssl/private */
    "/etc/ca-certificates", "/etc/ca-certificates.conf", "/etc/debian_version", "/etc/os-release",
    "/etc/fonts", "/etc/localtime", "/etc/timezone", "/etc/mime.types", "/etc/services",
    "/etc/protocols", "/etc/inputrc", "/etc/bash.bashrc", "/etc/profile", "/etc/matplotlibrc",
    "/etc/python3*", "/etc/java-*",      /* the settings of OpenJDK, which /usr/lib/jvm links to */
    "/etc/R/Renviron", "/etc/R/ldpaths", /* not *.site: administrators keep tokens there */
    "/etc/R/Makeconf", "/etc/R/repositories", "/etc/R/javaconf",
    /* Where packages come from, without auth.conf and apt.conf.d, which hold secrets. */
    "/etc/apt/sources.list", "/etc/apt/sources.list.d", "/etc/apt/trusted.gpg.d",
    "/etc/dpkg/dpkg.cfg", "/etc/dpkg/origins", "/etc/debconf.conf", "/etc/adduser.conf",
    "/etc/deluser.conf", "/etc/login.defs", "/etc/skel"};

/* An address with a password in it, as apt allows them in its lists of sources. */
static bool has_credentials(const payload_entry *entry) {
    if (strncmp(entry->path, "/etc/apt/", 9) != 0)
        return false;
    for (const char *at = entry->data; (at = strstr(at, "://")); at += 3) {
        size_t host = strcspn(at + 3, "/ \t\n");
        if (memchr(at + 3, '@', host))
            return true;
    }
    return false;
}

static void drop_last(struct payload *payload) {
    payload_entry *entry = &payload->entries[payload->count - 1];
    memset(entry->data, 0, entry->size);
    payload->bytes -= entry->size;
    entry->size = 0;
}

static int add(struct payload *payload, const char *path, int depth);

static int add_directory(struct payload *payload, const char *path, int depth) {
    DIR *directory = opendir(path);
    if (!directory)
        return 0;
    int result = payload_add(payload, path, S_IFDIR | 0755, "", 0);
    struct dirent *entry;
    while (result == 0 && (entry = readdir(directory))) {
        char child[PATH_MAX];
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 ||
            snprintf(child, sizeof child, "%s/%s", path, entry->d_name) >= (int)sizeof child)
            continue;
        result = add(payload, child, depth + 1);
    }
    closedir(directory);
    return result;
}

/* Only what everybody may read. -1 when out of memory or room. */
static int add(struct payload *payload, const char *path, int depth) {
    struct stat st;
    char target[PATH_MAX];
    if (lstat(path, &st) < 0)
        return 0;
    if (S_ISLNK(st.st_mode)) {
        ssize_t length = readlink(path, target, sizeof target);
        return length <= 0 || length == (ssize_t)sizeof target
                   ? 0
                   : payload_add(payload, path, S_IFLNK | 0777, target, (size_t)length);
    }
    if (S_ISDIR(st.st_mode))
        return depth < MAX_DEPTH && st.st_mode & S_IROTH ? add_directory(payload, path, depth) : 0;
    if (!S_ISREG(st.st_mode) || !(st.st_mode & S_IROTH))
        return 0;
    if (payload_add_file(payload, path, st.st_mode & 0755, AT_FDCWD, path, MAX_FILE) < 0)
        return errno == ENOMEM ? -1 : 0;
    if (has_credentials(&payload->entries[payload->count - 1]))
        drop_last(payload);
    return 0;
}

int sandbox_etc_add(struct payload *payload) {
    int result = 0;
    for (size_t i = 0; i < sizeof of_host / sizeof *of_host && result == 0; i++) {
        glob_t found;
        if (glob(of_host[i], 0, NULL, &found) != 0)
            continue;
        for (size_t j = 0; j < found.gl_pathc && result == 0; j++)
            result = add(payload, found.gl_pathv[j], 0);
        globfree(&found);
    }
    for (size_t i = 0; i < sizeof own / sizeof *own && result == 0; i++)
        result = payload_add(payload, own[i].path, S_IFREG | own[i].mode, own[i].text,
                             strlen(own[i].text));
    return result;
}
