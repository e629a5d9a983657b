#include "network_spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "../egress/link.h"
#include "process.h"

#define TUN_DIRECTORY "/dev/net"
#define TUN_DEVICE "/dev/net/tun"
#define TUN_MAJOR 10
#define TUN_MINOR 200

/* It stands beside the engine. Held open, so that the permissions of the directories on the way do
 * not matter to the user that it runs as. */
static int open_program(char path[PATH_MAX]) {
    ssize_t length = readlink("/proc/self/exe", path, PATH_MAX - 32);
    if (length < 0)
        return -1;
    path[length] = '\0';
    char *slash = strrchr(path, '/');
    strcpy(slash ? slash + 1 : path, "stepbox-egress");
    return open(path, O_RDONLY | O_CLOEXEC);
}

static bool open_to_all(void) {
    struct stat st;
    return stat(TUN_DEVICE, &st) == 0 && (st.st_mode & 0006) == 0006;
}

/* As root: hosts that let root alone open the device do not have to change that. A file system of
 * our own with a device of our own is mounted over its directory, where nobody else sees it. When
 * that fails, the helper will say that it cannot open it. */
static void open_device(void) {
    if (open_to_all() || unshare(CLONE_NEWNS) < 0 ||
        mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
        mount("tmpfs", TUN_DIRECTORY, "tmpfs", MS_NOSUID | MS_NOEXEC, "size=64k,mode=755") < 0)
        return;
    mode_t before = umask(0);
    if (mknod(TUN_DEVICE, S_IFCHR | 0666, makedev(TUN_MAJOR, TUN_MINOR)) < 0)
        umount(TUN_DIRECTORY);
    umask(before);
}

static void run_child(uid_t uid, gid_t gid, pid_t init, int program_fd, int control_fd, int pidfd,
                      pid_t engine) __attribute__((noreturn));
static void run_child(uid_t uid, gid_t gid, pid_t init, int program_fd, int control_fd, int pidfd,
                      pid_t engine) {
    setsid();
    if (uid != 0) {
        open_device();
        if (process_become(uid, gid) < 0)
            _exit(127);
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* after the change of user, which resets it */
    /* First out of the way of the numbers that they shall have. */
    int control = fcntl(control_fd, F_DUPFD_CLOEXEC, 16);
    int process = fcntl(pidfd, F_DUPFD_CLOEXEC, 16);
    int program = fcntl(program_fd, F_DUPFD_CLOEXEC, 16);
    int null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    char number[24];
    snprintf(number, sizeof number, "%ld", (long)init);
    char *const argv[] = {"stepbox-egress", number, NULL};
    char *const environment[] = {"PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", "LANG=C",
                                 NULL};
    if (getppid() == engine && chdir("/") == 0 && dup2(null_fd, 0) >= 0 && dup2(null_fd, 1) >= 0 &&
        dup2(control, EGRESS_CONTROL_FD) >= 0 && dup2(process, EGRESS_PIDFD) >= 0)
        execveat(program, "", argv, environment, AT_EMPTY_PATH);
    _exit(127);
}

pid_t network_spawn(uid_t uid, gid_t gid, pid_t init, int pidfd, int *control_fd, char *message,
                    size_t room) {
    char path[PATH_MAX] = "";
    int program_fd = open_program(path), ends[2] = {-1, -1};
    pid_t pid = -1, engine = getpid();
    if (program_fd < 0) {
        snprintf(message, room, "%s cannot be opened: %s", path, strerror(errno));
        return -1;
    }
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0 &&
        fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0) {
        pid = process_fork();
        if (pid == 0)
            run_child(uid, gid, init, program_fd, ends[1], pidfd, engine);
    }
    int saved = errno;
    close(program_fd);
    if (ends[1] >= 0)
        close(ends[1]);
    *control_fd = ends[0];
    if (pid > 0)
        return pid;
    if (ends[0] >= 0)
        close(ends[0]);
    snprintf(message, room, "stepbox-egress cannot be started: %s", strerror(saved));
    return -1;
}
