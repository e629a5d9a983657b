#include "own_scope.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cgroup_file.h"
#include "log.h"

/* Set for the program that runs in its scope, so that it does not try again. */
#define MARK "STEPBOX_SCOPE"
#define PATIENCE_MS 2000

#define SYSTEMD_RUN                                                                                \
    "systemd-run", "--user", "--scope", "--quiet", "--collect", "--property=Delegate=yes",         \
        "--description=stepbox engine", "--"
#define SYSTEMD_RUN_WORDS 8

bool own_scope_helps(const struct cgroup_place *places, size_t count) {
    bool unified = false;
    for (size_t i = 0; i < count; i++) {
        unified |= places[i].unified;
        if (places[i].controllers & CGROUP_MEMORY)
            return false; /* version 1 has it */
    }
    return unified;
}

/* Whether our group could be divided as it is: it is ours, and nobody else is in it. */
static bool is_ours_alone(const char *path) {
    char text[CGROUP_FILE_MAX], expected[32];
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool ours = fd >= 0 && faccessat(fd, "cgroup.procs", W_OK, 0) == 0 &&
                cgroup_file_read(fd, ".", "cgroup.procs", text) == 0;
    if (fd >= 0)
        close(fd);
    snprintf(expected, sizeof expected, "%d\n", (int)getpid());
    return ours && strcmp(text, expected) == 0;
}

/* The user's systemd answers here. */
static bool has_manager(void) {
    char path[PATH_MAX];
    const char *runtime = getenv("XDG_RUNTIME_DIR");
    if (!runtime || runtime[0] != '/')
        return false;
    snprintf(path, sizeof path, "%s/systemd/private", runtime);
    return access(path, F_OK) == 0;
}

bool own_scope_try(const char *program, char *const argv[]) {
    pid_t pid = fork();
    if (pid < 0)
        return false;
    if (pid == 0) {
        int null_fd = open("/dev/null", O_RDWR);
        if (null_fd < 0 || dup2(null_fd, 0) < 0 || dup2(null_fd, 1) < 0 || dup2(null_fd, 2) < 0)
            _exit(127);
        execvp(program, argv);
        _exit(127);
    }
    int status;
    for (int waited = 0; waited < PATIENCE_MS; waited += 10) {
        pid_t reaped = waitpid(pid, &status, WNOHANG);
        if (reaped == pid)
            return WIFEXITED(status) && WEXITSTATUS(status) == 0;
        if (reaped < 0 && errno != EINTR)
            return false;
        nanosleep(&(struct timespec){.tv_nsec = 10 * 1000 * 1000}, NULL);
    }
    kill(pid, SIGKILL);
    waitpid(pid, &status, 0);
    return false;
}

static bool is_worth_it(void) {
    struct cgroup_place *places = calloc(CGROUP_PLACES_MAX, sizeof *places);
    size_t count = places ? cgroup_places_find(places) : 0;
    bool worth = own_scope_helps(places, count) && has_manager();
    for (size_t i = 0; i < count && worth; i++)
        if (places[i].unified && is_ours_alone(places[i].path))
            worth = false;
    free(places);
    return worth;
}

void own_scope_enter(char **argv) {
    static char *const probe[] = {SYSTEMD_RUN, "/bin/true", NULL};
    static char *const words[] = {SYSTEMD_RUN};
    char self[PATH_MAX];
    bool again = getenv(MARK) != NULL;
    unsetenv(MARK);
    /* Root needs none of it. */
    if (again || geteuid() == 0 || !is_worth_it() || !own_scope_try("systemd-run", probe))
        return;
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    size_t count = 0;
    while (argv[count])
        count++;
    char **all = length > 0 ? calloc(SYSTEMD_RUN_WORDS + count + 1, sizeof *all) : NULL;
    if (!all)
        return;
    self[length] = '\0';
    memcpy(all, words, sizeof words);
    memcpy(all + SYSTEMD_RUN_WORDS, argv, count * sizeof *argv);
    all[SYSTEMD_RUN_WORDS] = self;
    setenv(MARK, "1", 1);
    execvp("systemd-run", all);
    unsetenv(MARK);
    log_info("systemd-run: %s", strerror(errno));
    free(all);
}
