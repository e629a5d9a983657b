#include "snapshot_tar.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "payload.h"
#include "process.h"
#include "sandbox_root.h"

/* The members that a stage may have, but for its root. */
static const char *const layers[] = {"upper-0", "upper-1", "upper-local"};
#define LAYERS (sizeof layers / sizeof *layers)

#define PAYLOAD_EXCLUDED "--exclude=" STAGE_ROOT PAYLOAD_DIRECTORY
#define RUN_EXCLUDED "--exclude=" STAGE_ROOT "/run/*"

static void fail(const char *what) __attribute__((noreturn));
static void fail(const char *what) {
    dprintf(STDERR_FILENO, "the files of the sandbox: %s: %s\n", what, strerror(errno));
    _exit(127);
}

/* It keeps the names of what has other names too, and of links: as many and as long as the sandbox
 * has made them. */
#define TAR_MEMORY (256ull * 1024 * 1024)

static void run_tar(char *const argv[]) __attribute__((noreturn));
static void run_tar(char *const argv[]) {
    struct rlimit memory = {TAR_MEMORY, TAR_MEMORY};
    setrlimit(RLIMIT_DATA, &memory);
    char *const environment[] = {"PATH=/usr/bin:/bin", "LANG=C", NULL};
    execve("/usr/bin/tar", argv, environment);
    execve("/bin/tar", argv, environment);
    fail(errno == ENOENT ? "GNU tar is not installed" : "tar");
}

/* Where the sandbox's file system is in its mount namespace. */
static void enter_stage(void) {
    static const char *const candidates[] = {"/mnt", "/media", "/srv", "/tmp"};
    for (size_t i = 0; i < sizeof candidates / sizeof *candidates; i++)
        if (chdir(candidates[i]) == 0 && access(STAGE_BOOT_ID, F_OK) == 0 &&
            access(STAGE_ROOT, F_OK) == 0)
            return;
    errno = ENOENT;
    fail("not found");
}

static void become_root_of(int pidfd, const struct sandbox_ids *ids, pid_t engine) {
    if (ids->kind == IDS_ROOT_RANGE && setgroups(0, NULL) < 0)
        fail("setgroups");
    if (setns(pidfd, CLONE_NEWUSER | CLONE_NEWNS) < 0)
        fail("setns");
    if (setresgid(0, 0, 0) < 0 || setresuid(0, 0, 0) < 0)
        fail("setresuid");
    /* The change of rights has reset it. */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != engine)
        _exit(127);
}

static void pack(int pidfd, const struct sandbox_ids *ids, uint64_t most, pid_t engine)
    __attribute__((noreturn));
static void pack(int pidfd, const struct sandbox_ids *ids, uint64_t most, pid_t engine) {
    struct rlimit size = {most, most};
    become_root_of(pidfd, ids, engine);
    enter_stage();
    setrlimit(RLIMIT_FSIZE, &size);
    char *argv[16 + LAYERS] = {"tar",
                               "-cf",
                               "-",
                               "--one-file-system",
                               "--numeric-owner",
                               "--sparse",
                               "--xattrs",
                               "--xattrs-include=*",
                               "--warning=no-file-ignored", /* sockets: nobody listens any more */
                               "--anchored", /* what is named here, and nothing that ends so */
                               PAYLOAD_EXCLUDED,
                               RUN_EXCLUDED,
                               STAGE_ROOT};
    size_t count = 13;
    for (size_t i = 0; i < LAYERS; i++)
        if (access(layers[i], F_OK) == 0)
            argv[count++] = (char *)layers[i];
    run_tar(argv);
}

pid_t snapshot_tar_pack(int pidfd, const struct sandbox_ids *ids, int archive_fd, uint64_t most,
                        int errors_fd) {
    pid_t engine = getpid(), pid = process_fork();
    if (pid == 0) {
        int null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
        if (dup2(null_fd, 0) < 0 || dup2(archive_fd, 1) < 0 || dup2(errors_fd, 2) < 0)
            _exit(127);
        setsid();
        pack(pidfd, ids, most, engine);
    }
    return pid;
}

/* What tar said first, in one line. */
static int complain(int errors_fd) {
    char said[200];
    ssize_t length = pread(errors_fd, said, sizeof said - 1, 0);
    said[length > 0 ? length : 0] = '\0';
    said[strcspn(said, "\n")] = '\0';
    dprintf(STDERR_FILENO, "the files of the snapshot could not be unpacked: %s\n", said);
    return -1;
}

int snapshot_tar_unpack(const char *stage, int archive_fd) {
    int errors_fd = memfd_create("stepbox-errors", MFD_CLOEXEC);
    pid_t pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (errors_fd >= 0)
            dup2(errors_fd, 2);
        if (lseek(archive_fd, 0, SEEK_SET) < 0 || dup2(archive_fd, 0) < 0 || chdir(stage) < 0)
            fail(stage);
        char *const argv[] = {"tar",
                              "-xf",
                              "-",
                              "-p",
                              "--same-owner",
                              "--numeric-owner",
                              "--xattrs",
                              "--xattrs-include=*",
                              "--sparse",
                              NULL};
        run_tar(argv);
    }
    int status = -1;
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
    bool is_done = pid > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
    int result = is_done ? 0 : complain(errors_fd);
    if (errors_fd >= 0)
        close(errors_fd);
    return result;
}
