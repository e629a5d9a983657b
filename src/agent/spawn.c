/* spawn.c - fork, session, descriptors, exec. The agent is small and has one thread: fork is cheap.
 */
#include "spawn.h"
#include "spawn_limits.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static struct rlimit inherited_files;

void spawn_raise_file_limit(void) {
    if (getrlimit(RLIMIT_NOFILE, &inherited_files))
        return;
    struct rlimit raised = {.rlim_cur = inherited_files.rlim_max,
                            .rlim_max = inherited_files.rlim_max};
    setrlimit(RLIMIT_NOFILE, &raised);
}

int spawn_inherited_file_limit(void) {
    return (int)inherited_files.rlim_cur;
}

struct failure {
    spawn_stage stage;
    int error;
};

/* Code that runs as the same user may stop every process that it can, over and over: how long the
 * agent waits between two looks at a new one, and how often it is let go on. Milliseconds. */
#define LOOK_INTERVAL 5
#define STOPS_MAX 20

/* Moves a descriptor above those that become 0 to 3, so that none is overwritten. */
static int out_of_the_way(int fd) {
    return fd < 0 ? fd : fcntl(fd, F_DUPFD_CLOEXEC, SPAWN_CHANNEL_FD + 1);
}

static void reset_signals(void) {
    sigset_t none;
    for (int number = 1; number < NSIG; number++)
        signal(number, SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

static spawn_stage become(const spawn_options *options, pid_t agent) {
    spawn_offer_to_kernel();
    spawn_limits_lower(options->channel >= 0);
    if (privileges_become(options->user))
        return SPAWN_FORK;
    /* Outside of a sandbox nothing else ends what an agent leaves that is killed. */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != agent)
        _exit(127);
    int out = out_of_the_way(options->out), err = out_of_the_way(options->err);
    int channel = out_of_the_way(options->channel);
    int in = options->in < 0 ? open("/dev/null", O_RDONLY | O_CLOEXEC) : options->in;
    in = out_of_the_way(in);
    setsid();
    reset_signals();
    if (dup2(in, 0) < 0 || dup2(out, 1) < 0 || dup2(err, 2) < 0 ||
        (channel >= 0 && dup2(channel, SPAWN_CHANNEL_FD) < 0) ||
        (options->terminal && ioctl(0, TIOCSCTTY, 0)))
        return SPAWN_FORK;
    if (chdir(options->cwd) && (!options->other_cwd || chdir(options->other_cwd)))
        return SPAWN_CWD;
    if (inherited_files.rlim_max)
        setrlimit(RLIMIT_NOFILE, &inherited_files);
    environ = (char **)options->envp;
    execvp(options->argv[0], options->argv);
    return SPAWN_EXEC;
}

static bool is_stopped(pid_t pid) {
    siginfo_t info = {0};
    return waitid(P_PID, (id_t)pid, &info, WSTOPPED | WNOHANG | WNOWAIT) == 0 && info.si_pid == pid;
}

/* Waits until the new process has become the program, and does not wait for one that is stopped. 0,
 * or -1 with *failure. */
static int await_exec(pid_t pid, int report, struct failure *failure) {
    struct pollfd ready = {.fd = report, .events = POLLIN};
    for (int stops = 0; poll(&ready, 1, LOOK_INTERVAL) <= 0;) {
        if (!is_stopped(pid))
            continue;
        if (++stops > STOPS_MAX) {
            kill(pid, SIGKILL);
            *failure = (struct failure){SPAWN_FORK, EAGAIN};
            return -1;
        }
        kill(pid, SIGCONT);
    }
    ssize_t got;
    do
        got = read(report, failure, sizeof *failure);
    while (got < 0 && errno == EINTR);
    return got == (ssize_t)sizeof *failure ? -1 : 0;
}

pid_t spawn_program(const spawn_options *options, spawn_stage *stage) {
    int report[2];
    *stage = SPAWN_FORK;
    if (pipe2(report, O_CLOEXEC))
        return -1;
    pid_t agent = getpid();
    pid_t pid = fork();
    if (pid == 0) {
        int fd = out_of_the_way(report[1]);
        struct failure failure = {.stage = become(options, agent), .error = errno};
        /* Nobody is left to tell when this fails. */
        ssize_t told = write(fd, &failure, sizeof failure);
        _exit(told == sizeof failure ? 127 : 126);
    }
    int saved = errno;
    close(report[1]);
    if (pid > 0) {
        struct failure failure;
        if (await_exec(pid, report[0], &failure)) {
            /* The loop reaps it like every child. */
            *stage = failure.stage;
            saved = failure.error;
            pid = -1;
        }
    }
    close(report[0]);
    errno = saved;
    return pid;
}

/* Makes a pipe whose one end does not block. */
static int make_pipe(int ends[2], int own) {
    if (pipe2(ends, O_CLOEXEC))
        return -1;
    int flags = fcntl(ends[own], F_GETFL);
    if (flags < 0 || fcntl(ends[own], F_SETFL, flags | O_NONBLOCK)) {
        int saved = errno;
        close(ends[0]);
        close(ends[1]);
        ends[0] = ends[1] = -1;
        errno = saved;
        return -1;
    }
    return 0;
}

int spawn_pipe(int ends[2]) {
    if (make_pipe(ends, 0))
        return -1;
    fcntl(ends[0], F_SETPIPE_SZ, SPAWN_PIPE_SIZE);
    return 0;
}

int spawn_input_pipe(int ends[2]) {
    return make_pipe(ends, 1);
}
