#include "runner_jobs.h"

#include <errno.h>
#include <ev.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "id_space.h"
#include "log.h"
#include "runner_message.h"
#include "zygote.h"

/* Requests in a burst, and per second after it; what comes faster is refused. */
#define BURST 128.0
#define PER_SECOND 64.0
/* Seconds from the job to the runner. */
#define DEADLINE 10.0
/* As the agent's own pipes are; see spawn.h there. */
#define PIPE_SIZE (256 * 1024)

/* One runner on its way. */
struct job {
    struct runner_jobs *jobs;
    struct job *next;
    uint16_t number; /* the agent's */
    int report_fd;
    int ends[RUNNER_FDS]; /* the agent's; -1 when it has them */
    ev_io report;
    ev_timer deadline;
};

struct runner_jobs {
    runner_jobs_config config;
    struct job *first;
    size_t count;
    double tokens;
    ev_tstamp filled_at;
};

struct runner_jobs *runner_jobs_new(const runner_jobs_config *config) {
    struct runner_jobs *jobs = calloc(1, sizeof *jobs);
    if (jobs) {
        jobs->config = *config;
        jobs->tokens = BURST;
        jobs->filled_at = ev_now(config->loop);
    }
    return jobs;
}

static void close_fd(int *fd) {
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

static void finish(struct job *job) {
    struct runner_jobs *jobs = job->jobs;
    struct job **at = &jobs->first;
    while (*at != job)
        at = &(*at)->next;
    *at = job->next;
    jobs->count--;
    ev_io_stop(jobs->config.loop, &job->report);
    ev_timer_stop(jobs->config.loop, &job->deadline);
    close_fd(&job->report_fd); /* a runner that waits for us ends with that */
    for (int i = 0; i < RUNNER_FDS; i++)
        close_fd(&job->ends[i]);
    free(job);
}

void runner_jobs_free(struct runner_jobs *jobs) {
    if (!jobs)
        return;
    while (jobs->first)
        finish(jobs->first);
    free(jobs);
}

static void refuse(struct runner_jobs *jobs, uint16_t number) {
    control_message answer = {.kind = RUNNER_REFUSED, .number = number};
    jobs->config.answer(&answer, jobs->config.user);
}

static void give(struct job *job) {
    control_message answer = {.kind = RUNNER_GIVEN, .number = job->number, .count = RUNNER_FDS};
    for (int i = 0; i < RUNNER_FDS; i++) {
        answer.fds[i] = job->ends[i];
        job->ends[i] = -1;
    }
    job->jobs->config.answer(&answer, job->jobs->config.user);
}

/* The agent is still waiting for an answer. */
static bool is_open(const struct job *job) {
    return job->ends[RUNNER_FD_CHANNEL] >= 0;
}

static void fail(struct job *job, const char *why) {
    struct runner_jobs *jobs = job->jobs;
    if (is_open(job)) {
        log_warn("a runner could not be forked: %s", why);
        refuse(jobs, job->number);
    }
    finish(job);
}

static void on_deadline(struct ev_loop *loop, ev_timer *timer, int events) {
    (void)loop, (void)events;
    fail(timer->data, "it did not come in time");
}

/* What one message of a runner brought. */
struct news {
    struct zygote_report report;
    pid_t pid; /* whose it is, as the kernel says; 0: it did not say */
    int fd;    /* that came with it, or -1 */
};

static void take_control(struct msghdr *header, struct news *news) {
    for (struct cmsghdr *h = CMSG_FIRSTHDR(header); h; h = CMSG_NXTHDR(header, h)) {
        if (h->cmsg_level != SOL_SOCKET)
            continue;
        if (h->cmsg_type == SCM_CREDENTIALS && h->cmsg_len == CMSG_LEN(sizeof(struct ucred))) {
            struct ucred who;
            memcpy(&who, CMSG_DATA(h), sizeof who);
            news->pid = who.pid;
        } else if (h->cmsg_type == SCM_RIGHTS && h->cmsg_len == CMSG_LEN(sizeof(int))) {
            memcpy(&news->fd, CMSG_DATA(h), sizeof(int));
        }
    }
}

/* 1 when there is news, 0 when there is none now, -1 at the end. */
static int receive(int fd, struct news *news) {
    struct iovec part = {&news->report, sizeof news->report};
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(sizeof(struct ucred)) + CMSG_SPACE(sizeof(int))];
    } control;
    struct msghdr header = {.msg_iov = &part,
                            .msg_iovlen = 1,
                            .msg_control = control.bytes,
                            .msg_controllen = sizeof control.bytes};
    *news = (struct news){.fd = -1};
    ssize_t got = recvmsg(fd, &header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (got < 0)
        return errno == EAGAIN || errno == EINTR ? 0 : -1;
    take_control(&header, news);
    if (got == sizeof news->report)
        return 1;
    close_fd(&news->fd);
    return -1;
}

/* The runner is in the sandbox, without any rights, and waits for our word. */
static void let_go(struct job *job, pid_t pid) {
    const runner_jobs_config *config = &job->jobs->config;
    if (config->joined && !config->joined(pid, config->user)) {
        fail(job, "it cannot be put under the limits of the sandbox");
        return;
    }
    if (send(job->report_fd, "g", 1, MSG_NOSIGNAL | MSG_DONTWAIT) != 1) {
        fail(job, "it has ended");
        return;
    }
    ev_timer_stop(config->loop, &job->deadline);
    give(job);
}

static void on_report(struct ev_loop *loop, ev_io *io, int events) {
    static const char *const stages[] = {
        [STAGE_NAMESPACES] = "it cannot enter the sandbox",
        [STAGE_FORK] = "there is no room for its process",
        [STAGE_DESCRIPTORS] = "its descriptors cannot be arranged",
        [STAGE_LIMITS] = "its limits cannot be set",
        [STAGE_PRIVILEGES] = "its rights cannot be given up",
        [STAGE_FILTER] = "its system calls cannot be filtered",
    };
    (void)loop, (void)events;
    struct job *job = io->data;
    const runner_jobs_config *config = &job->jobs->config;
    struct news news;
    int got = receive(io->fd, &news);
    if (got == 0)
        return;
    int stage = got < 0 ? -1 : news.report.stage;
    if (stage == STAGE_READY && is_open(job) && news.pid > 0) {
        let_go(job, news.pid);
    } else if (stage == STAGE_LISTENER && !is_open(job) && config->listener && news.fd >= 0) {
        config->listener(news.fd, config->user);
        news.fd = -1;
    } else if (stage > STAGE_READY && stage < STAGE_LISTENER) {
        log_debug("a runner: %s: %s", stages[stage], strerror(news.report.error));
        fail(job, stages[stage]);
    } else {
        fail(job, "its process has ended"); /* or, with its ends given, it is on its own now */
    }
    close_fd(&news.fd);
}

/* A pipe, and which end does not block. */
static int make_pipe(int ends[2]) {
    if (pipe2(ends, O_CLOEXEC) < 0)
        return -1;
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    fcntl(ends[0], F_SETPIPE_SZ, PIPE_SIZE);
    return 0;
}

/* Makes all pairs: theirs are a job's, ours the agent's and the report. False: nothing is open. */
static bool open_pairs(struct job *job, int theirs[JOB_FDS]) {
    int report[2] = {-1, -1}, channel[2] = {-1, -1}, out[2] = {-1, -1}, err[2] = {-1, -1}, on = 1;
    bool made = socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, report) == 0 &&
                socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, channel) == 0 &&
                make_pipe(out) == 0 && make_pipe(err) == 0 &&
                setsockopt(report[0], SOL_SOCKET, SO_PASSCRED, &on, sizeof on) == 0 &&
                setsockopt(channel[0], SOL_SOCKET, SO_PASSCRED, &on, sizeof on) == 0;
    job->report_fd = report[0];
    job->ends[RUNNER_FD_CHANNEL] = channel[0];
    job->ends[RUNNER_FD_OUT] = out[0];
    job->ends[RUNNER_FD_ERR] = err[0];
    theirs[JOB_REPORT] = report[1];
    theirs[JOB_CHANNEL] = channel[1];
    theirs[JOB_OUT] = out[1];
    theirs[JOB_ERR] = err[1];
    return made;
}

/* Makes a job of a request. False when nothing comes of it. */
static bool start(struct runner_jobs *jobs, uint16_t number, struct zygote *zygote) {
    const runner_jobs_config *config = &jobs->config;
    int theirs[JOB_FDS] = {-1, -1, -1, -1, -1, -1};
    struct job *job = calloc(1, sizeof *job);
    if (!job)
        return false;
    job->jobs = jobs;
    job->number = number;
    bool sent = open_pairs(job, theirs);
    ev_io_init(&job->report, on_report, job->report_fd, EV_READ);
    ev_timer_init(&job->deadline, on_deadline, DEADLINE, 0.0);
    job->report.data = job->deadline.data = job;
    job->next = jobs->first;
    jobs->first = job;
    jobs->count++;
    struct zygote_job order = {
        .flags = config->filter_fd >= 0 ? JOB_FILTERED : 0, .uid = SANDBOX_UID, .gid = SANDBOX_UID};
    theirs[JOB_INIT] = config->init_fd(config->user);
    theirs[JOB_FILTER] = config->filter_fd;
    sent = sent && theirs[JOB_INIT] >= 0 && zygote_send(zygote, &order, theirs) == 0;
    for (int i = JOB_REPORT; i <= JOB_ERR; i++)
        close_fd(&theirs[i]);
    if (sent) {
        ev_io_start(config->loop, &job->report);
        ev_timer_start(config->loop, &job->deadline);
    } else {
        finish(job);
    }
    return sent;
}

/* One from the bucket; false when it is empty. */
static bool take_token(struct runner_jobs *jobs) {
    ev_tstamp now = ev_now(jobs->config.loop);
    double tokens = jobs->tokens + (now - jobs->filled_at) * PER_SECOND;
    jobs->filled_at = now;
    jobs->tokens = tokens < BURST ? tokens : BURST;
    if (jobs->tokens < 1.0)
        return false;
    jobs->tokens -= 1.0;
    return true;
}

static bool is_taken(const struct runner_jobs *jobs, uint16_t number) {
    for (const struct job *job = jobs->first; job; job = job->next)
        if (is_open(job) && job->number == number)
            return true;
    return false;
}

bool runner_jobs_take(struct runner_jobs *jobs, control_message *message) {
    if (message->kind != RUNNER_REQUEST)
        return false;
    uint16_t number = message->number;
    bool well_formed = message->count == 0 && number < RUNNER_REQUESTS_MAX;
    control_message_close(message);
    if (!well_formed || is_taken(jobs, number))
        return true; /* no agent of ours sends that, and nobody waits for an answer */
    struct zygote *zygote = NULL;
    if (message->flags == RUNNER_PYTHON && take_token(jobs) && jobs->count < RUNNER_REQUESTS_MAX)
        zygote = zygotes_take(jobs->config.zygotes, jobs->config.zygote_number);
    if (!zygote || !start(jobs, number, zygote))
        refuse(jobs, number);
    return true;
}
