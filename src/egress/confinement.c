#include "confinement.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/securebits.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "call_filter.h"
#include "own_root.h"
#include "text_file.h"

/* Who owns a sandbox's namespaces has every right over them: but only from the namespace that he
 * made them in, which this leaves. */
static int leave_user_namespace(void) {
    char uid[64], gid[64];
    snprintf(uid, sizeof uid, "%u %u 1", geteuid(), geteuid());
    snprintf(gid, sizeof gid, "%u %u 1", getegid(), getegid());
    prctl(PR_SET_DUMPABLE, 1); /* else /proc/self is root's */
    if (unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0 ||
        text_file_write("/proc/self/uid_map", uid) < 0 ||
        text_file_write("/proc/self/setgroups", "deny") < 0)
        return -1;
    return text_file_write("/proc/self/gid_map", gid);
}

static int drop_capabilities(void) {
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    const struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {{0}};
    int number = 0;
    while (prctl(PR_CAPBSET_DROP, number, 0, 0, 0) == 0)
        number++;
    if (errno != EINVAL || number == 0) /* EINVAL: behind the kernel's last */
        return -1;
    const unsigned long bits = SECBIT_NOROOT | SECBIT_NOROOT_LOCKED | SECBIT_NO_SETUID_FIXUP |
                               SECBIT_NO_SETUID_FIXUP_LOCKED | SECBIT_KEEP_CAPS_LOCKED |
                               SECBIT_NO_CAP_AMBIENT_RAISE | SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED;
    if (prctl(PR_SET_SECUREBITS, bits) < 0 ||
        prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) < 0)
        return -1;
    return (int)syscall(SYS_capset, &header, none);
}

static int limit(void) {
    static const int nothing_of[] = {RLIMIT_CORE, RLIMIT_FSIZE, RLIMIT_MEMLOCK, RLIMIT_MSGQUEUE};
    for (size_t i = 0; i < sizeof nothing_of / sizeof *nothing_of; i++)
        if (setrlimit(nothing_of[i], &(struct rlimit){0, 0}) < 0)
            return -1;
    return 0;
}

static int failed(const char *what, char *message, size_t room) {
    snprintf(message, room, "stepbox-egress cannot confine itself: %s: %s", what, strerror(errno));
    return -1;
}

int confine(int parent, char *message, size_t room) {
    if (leave_user_namespace() < 0)
        return failed("a user namespace of its own", message, room);
    if (own_root_enter() < 0)
        return failed("a root directory of its own", message, room);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) {
        errno = ESRCH;
        return failed("its parent", message, room);
    }
    if (limit() < 0 || drop_capabilities() < 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
        prctl(PR_SET_DUMPABLE, 0) < 0)
        return failed("its rights", message, room);
    if (call_filter_install() < 0)
        return failed("a filter of system calls", message, room);
    return 0;
}
