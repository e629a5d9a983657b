#include "zygote_start.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <linux/keyctl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h> /* umask() */
#include <sys/syscall.h>
#include <unistd.h>

#include "process.h"
#include "text_file.h"
#include "zygote_image.h"
#include "zygote_job.h"

#define RUNNER_FOLDER "/opt/stepbox/runners/python/"
#define SCRIPT RUNNER_FOLDER "zygote.py"

/* Above all that the new process uses. */
#define OUT_OF_THE_WAY 64

/* How much nicer than the engine one is that nobody waits for. */
#define BACKGROUND 10

/* The name of the script is a roundabout one: as long as the path that a runner shows in its place,
 * so that what a runner shows as its command line fits in. */
static char *const arguments[] = {(char *)ZYGOTE_PYTHON,
                                  (char *)"/proc/self/fd/././././././././././3", (char *)"3", NULL};

/* Nothing of whoever started the engine. No home, so that no packages of a user's are found. */
static char *const environment[] = {(char *)"PATH=/usr/local/bin:/usr/bin:/bin",
                                    (char *)"LANG=C.UTF-8", (char *)"HOME=/nonexistent", NULL};

static int memory_file(const char *name, const char *bytes, size_t length) {
    int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0)
        return -1;
    if (write(fd, bytes, length) == (ssize_t)length &&
        fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL) == 0)
        return fd;
    int saved = errno;
    close(fd);
    errno = saved;
    return -1;
}

/* The sources of the runner, by their paths. */
static int sources_file(const struct payload *payload) {
    json_t *all = json_object();
    for (size_t i = 0; all && i < payload->count; i++) {
        const payload_entry *entry = &payload->entries[i];
        if (strncmp(entry->path, RUNNER_FOLDER, sizeof RUNNER_FOLDER - 1) == 0 &&
            json_object_set_new(all, entry->path, json_stringn(entry->data, entry->size))) {
            json_decref(all);
            all = NULL;
        }
    }
    char *text = all ? json_dumps(all, JSON_COMPACT) : NULL;
    json_decref(all);
    errno = ENOMEM;
    int fd = text ? memory_file("stepbox-runner", text, strlen(text)) : -1;
    free(text);
    return fd;
}

static const payload_entry *find_script(const struct payload *payload) {
    for (size_t i = 0; i < payload->count; i++)
        if (strcmp(payload->entries[i].path, SCRIPT) == 0)
            return &payload->entries[i];
    return NULL;
}

int zygote_files_load(struct zygote_files *files, const struct payload *payload, char *message,
                      size_t room) {
    *files = (struct zygote_files){-1, -1, -1};
    const payload_entry *script = find_script(payload);
    if (!script) {
        snprintf(message, room, "the runner for Python has no zygote.py");
        return -1;
    }
    files->script = memory_file("stepbox-script", script->data, script->size);
    files->library = memory_file("stepbox-zygote", zygote_image, zygote_image_size());
    files->files = sources_file(payload);
    if (files->script >= 0 && files->library >= 0 && files->files >= 0)
        return 0;
    snprintf(message, room, "its files cannot be kept in memory: %s", strerror(errno));
    zygote_files_close(files);
    return -1;
}

void zygote_files_close(struct zygote_files *files) {
    int *const all[] = {&files->script, &files->library, &files->files};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (*all[i] >= 0)
            close(*all[i]);
        *all[i] = -1;
    }
}

static void fail(const char *what) __attribute__((noreturn));
static void fail(const char *what) {
    dprintf(STDERR_FILENO, "%s: %s\n", what, strerror(errno));
    _exit(127);
}

/* An own description of a file in memory: its offset is not shared with other zygotes'. */
static int reopen(int fd) {
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    int again = open(path, O_RDONLY | O_CLOEXEC);
    int moved = again < 0 ? -1 : fcntl(again, F_DUPFD_CLOEXEC, OUT_OF_THE_WAY);
    if (again >= 0)
        close(again);
    return moved;
}

/* Puts the descriptors in their places; all others are closed by exec. */
static int arrange(const struct zygote_files *files, int jobs, int errors) {
    const int places[] = {
        0, 1, 2, ZYGOTE_FD_SCRIPT, ZYGOTE_FD_JOBS, ZYGOTE_FD_LIBRARY, ZYGOTE_FD_FILES};
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    const int moved[] = {fcntl(null, F_DUPFD_CLOEXEC, OUT_OF_THE_WAY),
                         fcntl(errors, F_DUPFD_CLOEXEC, OUT_OF_THE_WAY),
                         fcntl(errors, F_DUPFD_CLOEXEC, OUT_OF_THE_WAY),
                         reopen(files->script),
                         fcntl(jobs, F_DUPFD_CLOEXEC, OUT_OF_THE_WAY),
                         reopen(files->library),
                         reopen(files->files)};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (moved[i] < 0 || dup2(moved[i], places[i]) < 0)
            return -1;
    return 0;
}

static void run_child(const struct zygote_files *files, int jobs, int errors, uid_t uid, gid_t gid,
                      pid_t engine) __attribute__((noreturn));
static void run_child(const struct zygote_files *files, int jobs, int errors, uid_t uid, gid_t gid,
                      pid_t engine) {
    setsid();
    umask(022);
    struct rlimit no_core = {1, 1}; /* as in sandbox_rlimits.c */
    setrlimit(RLIMIT_CORE, &no_core);
    if (arrange(files, jobs, errors))
        _exit(127);
    /* When memory runs out, runners shall end before agents (and so before the engine). */
    text_file_write("/proc/self/oom_score_adj", "1000");
    /* The runners shall not hold the keys of whoever started the engine. */
    syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, NULL);
    if (uid && process_become(uid, gid) < 0)
        fail("cannot become an unprivileged user");
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* after the change of user, which resets it */
    if (getppid() != engine)
        _exit(127);
    if (chdir("/"))
        fail("cannot enter /");
    /* A runner's program must not be one that its user could write to from outside. */
    if (access(ZYGOTE_PYTHON, W_OK) == 0) {
        dprintf(STDERR_FILENO, "%s may be written by the user it runs as\n", ZYGOTE_PYTHON);
        _exit(ZYGOTE_NEVER);
    }
    execve(ZYGOTE_PYTHON, arguments, environment);
    fail(ZYGOTE_PYTHON);
}

int zygote_start(zygote_process *process, const struct zygote_files *files, uid_t uid, gid_t gid,
                 bool background) {
    int jobs[2], errors[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, jobs) < 0)
        return -1;
    if (pipe2(errors, O_CLOEXEC) < 0) {
        close(jobs[0]), close(jobs[1]);
        return -1;
    }
    fcntl(jobs[0], F_SETFL, O_NONBLOCK);
    fcntl(errors[0], F_SETFL, O_NONBLOCK);
    pid_t engine = getpid(), pid = process_fork();
    if (pid == 0)
        run_child(files, jobs[1], errors[1], uid, gid, engine);
    int saved = errno;
    close(jobs[1]), close(errors[1]);
    if (pid < 0) {
        close(jobs[0]), close(errors[0]);
        errno = saved;
        return -1;
    }
    *process = (zygote_process){pid, jobs[0], errors[0]};
    if (background && uid)
        setpriority(PRIO_PROCESS, (id_t)pid, getpriority(PRIO_PROCESS, 0) + BACKGROUND);
    return 0;
}

void zygote_to_foreground(const zygote_process *process) {
    setpriority(PRIO_PROCESS, (id_t)process->pid, getpriority(PRIO_PROCESS, 0));
}
