#include "remedy.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A number from /proc/sys, or -1 when this kernel does not have the setting. */
static long setting(const char *path) {
    char text[32];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    ssize_t got = read(fd, text, sizeof text - 1);
    close(fd);
    if (got <= 0)
        return -1;
    text[got] = '\0';
    return strtol(text, NULL, 10);
}

/* Whether bwrap's words mean that the host forbids what it needs. */
static bool is_forbidden(const char *said) {
    static const char *const signs[] = {
        "No permissions to create", /* EPERM from clone: sysctl, seccomp or AppArmor */
        "reating new namespace",    /* "Creating new namespace failed" and relatives */
        "etting up uid map",        /* Ubuntu's AppArmor restriction */
        "Failed RTM_NEWADDR",       /* the same, met when loopback is set up */
        "unprivileged_userns_clone", "max_user_namespaces",
        "Can't mount proc", /* a container that hides parts of /proc */
    };
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
        if (strstr(said, signs[i]))
            return true;
    return false;
}

static const char *forbidden_remedy(void) {
    if (setting("/proc/sys/kernel/apparmor_restrict_unprivileged_userns") == 1)
        return "AppArmor restricts user namespaces here (Ubuntu 24.04 and newer do). Allow them "
               "with: sudo sysctl -w "
               "kernel.apparmor_restrict_unprivileged_userns=0 (and a file in /etc/sysctl.d to "
               "keep it), or give "
               "bwrap an AppArmor profile that allows userns";
    if (setting("/proc/sys/kernel/unprivileged_userns_clone") == 0)
        return "User namespaces are switched off here. Allow them with: sudo sysctl -w "
               "kernel.unprivileged_userns_clone=1 (and a file in /etc/sysctl.d to keep it)";
    if (setting("/proc/sys/user/max_user_namespaces") == 0)
        return "User namespaces are limited to none here. Allow them with: sudo sysctl -w "
               "user.max_user_namespaces=15000 (and a file in /etc/sysctl.d to keep it)";
    return "User namespaces are forbidden here, though the usual settings "
           "(kernel.apparmor_restrict_unprivileged_userns, kernel.unprivileged_userns_clone, "
           "user.max_user_namespaces) allow them. In a container, allow them there: docker run "
           "--security-opt "
           "seccomp=unconfined --security-opt apparmor=unconfined --security-opt "
           "systempaths=unconfined";
}

void remedy_explain(const char *bwrap_stderr, char *message, size_t room) {
    /* Its first line is enough, and has the reason. */
    int first = (int)strcspn(bwrap_stderr, "\n");
    if (is_forbidden(bwrap_stderr))
        snprintf(
            message, room,
            "this host does not let stepbox isolate a sandbox (%.*s). %s. No sandbox was made.",
            first, bwrap_stderr, forbidden_remedy());
    else if (strstr(bwrap_stderr, "Unknown option"))
        snprintf(message, room, "bubblewrap is too old (%.*s): stepbox needs 0.8 or newer", first,
                 bwrap_stderr);
    else if (first > 0)
        snprintf(message, room, "the sandbox could not be started: %.*s", first, bwrap_stderr);
    else
        snprintf(message, room,
                 "the sandbox could not be started: bubblewrap ended without saying why");
}

void remedy_no_bwrap(const char *path, int error, char *message, size_t room) {
    if (error == ENOENT)
        snprintf(
            message, room,
            "bubblewrap is not installed (%s was not found): install the package \"bubblewrap\"",
            path);
    else
        snprintf(message, room, "bubblewrap cannot be run: %s: %s", path, strerror(error));
}
