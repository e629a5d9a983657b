#include "runner_jobs.h"

#include <errno.h>
#include <ev.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "descriptors.h"
#include "id_space.h"
#include "log.h"
#include "runner_message.h"
#include "zygote.h"

/* Requests in a burst, and per second after it; what comes faster is refused. */
#define BURST 128.0
#define PER_SECOND 64.0
/* Seconds from the job to the runner. */
#define DEADLINE 10.0
/* Seconds that a request waits for a zygote that is about to be ready, and between two looks. */
#define WAIT 1.5
#define LOOK 0.005
/* As the agent's own pipes are; see spawn.h there. */
#define PIPE_SIZE (256 * 1024)

/* One runner on its way. */
struct job {
    struct runner_jobs *jobs;
    struct job *next;
    uint16_t number; /* the agent's */
    int report_fd;
    int ends[RUNNER_FDS]; /* the agent's */
    ev_io report;
    ev_timer deadline;
};

struct runner_jobs {
    runner_jobs_config config;
    struct job *first;
    size_t count;
    json_int_t forked, refused;
    uint16_t waiting[RUNNER_REQUESTS_MAX]; /* numbers of requests, the first came first */
    size_t waiting_count;
    ev_tstamp waiting_since; /* the first of them */
    ev_timer look;
    double tokens;
    ev_tstamp filled_at;
};

static void on_look(struct ev_loop *loop, ev_timer *timer, int events);

struct runner_jobs *runner_jobs_new(const runner_jobs_config *config) {
    struct runner_jobs *jobs = calloc(1, sizeof *jobs);
    if (jobs) {
        jobs->config = *config;
        ev_timer_init(&jobs->look, on_look, LOOK, LOOK);
        jobs->look.data = jobs;
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
    close_fd(&job->report_fd); /* a runner that has not reported ends with that */
    for (int i = 0; i < RUNNER_FDS; i++)
        close_fd(&job->ends[i]);
    free(job);
}

void runner_jobs_free(struct runner_jobs *jobs) {
    if (!jobs)
        return;
    ev_timer_stop(jobs->config.loop, &jobs->look);
    while (jobs->first)
        finish(jobs->first);
    free(jobs);
}

static void refuse(struct runner_jobs *jobs, uint16_t number) {
    control_message answer = {.kind = RUNNER_REFUSED, .number = number};
    jobs->refused++;
    jobs->config.answer(&answer, jobs->config.user);
}

static void give(struct job *job) {
    control_message answer = {.kind = RUNNER_GIVEN, .number = job->number, .count = RUNNER_FDS};
    for (int i = 0; i < RUNNER_FDS; i++) {
        answer.fds[i] = job->ends[i];
        job->ends[i] = -1;
    }
    job->jobs->forked++;
    job->jobs->config.answer(&answer, job->jobs->config.user);
}

static void fail(struct job *job, const char *why) {
    log_warn("a runner could not be forked: %s", why);
    refuse(job->jobs, job->number);
    finish(job);
}

static void on_deadline(struct ev_loop *loop, ev_timer *timer, int events) {
    (void)loop, (void)events;
    fail(timer->data, "it did not come in time");
}

/* 1 when there is a report, 0 when there is none now, -1 at the end. *fd: what came with it, or -1.
 */
static int receive(int socket, struct zygote_report *report, int *fd) {
    size_t count; /* one at most, in what our own code sends */
    *fd = -1;
    ssize_t got = descriptors_receive(socket, report, sizeof *report, fd, 1, &count, MSG_DONTWAIT);
    if (got < 0 && errno == EAGAIN)
        return 0;
    if (got == sizeof *report)
        return 1;
    if (got >= 0)
        close_fd(fd);
    return -1;
}

static void on_report(struct ev_loop *loop, ev_io *io, int events) {
    static const char *const stages[STAGES] = {
        [STAGE_GROUPS] = "it cannot join the sandbox's control groups",
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
    struct zygote_report report;
    int listener;
    int got = receive(io->fd, &report, &listener);
    if (got == 0)
        return;
    if (got < 0) {
        fail(job, "its process has ended");
    } else if (report.stage == STAGE_READY) {
        if (listener >= 0)
            config->listener(listener, config->user);
        listener = -1;
        give(job);
        finish(job);
    } else if (report.stage > STAGE_READY && report.stage < STAGES) {
        log_debug("a runner: %s: %s", stages[report.stage], strerror(report.error));
        fail(job, stages[report.stage]);
    } else {
        fail(job, "it says what is not known");
    }
    close_fd(&listener);
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
static bool open_pairs(struct job *job, int theirs[JOB_FDS_MAX]) {
    int report[2] = {-1, -1}, channel[2] = {-1, -1}, out[2] = {-1, -1}, err[2] = {-1, -1}, on = 1;
    bool made = socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, report) == 0 &&
                socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, channel) == 0 &&
                make_pipe(out) == 0 && make_pipe(err) == 0 &&
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
    int theirs[JOB_FDS_MAX];
    for (int i = 0; i < JOB_FDS_MAX; i++)
        theirs[i] = -1;
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
    struct zygote_job order = {.uid = SANDBOX_UID,
                               .gid = SANDBOX_UID,
                               .processes = config->processes,
                               .data = config->data,
                               .most_data = config->most_data};
    theirs[JOB_INIT] = config->init_fd(config->user);
    theirs[JOB_FILTER] = config->filter_fd;
    int groups = sent ? config->groups(theirs + JOB_FDS, config->user) : 0;
    order.groups = groups > 0 ? (uint32_t)groups : 0;
    sent = sent && groups >= 0 && theirs[JOB_INIT] >= 0 && zygote_send(zygote, &order, theirs) == 0;
    for (int i = JOB_REPORT; i < JOB_FDS_MAX; i++)
        if (i != JOB_FILTER)
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
    for (size_t i = 0; i < jobs->waiting_count; i++)
        if (jobs->waiting[i] == number)
            return true;
    for (const struct job *job = jobs->first; job; job = job->next)
        if (job->number == number)
            return true;
    return false;
}

static void on_look(struct ev_loop *loop, ev_timer *timer, int events) {
    (void)events;
    struct runner_jobs *jobs = timer->data;
    const runner_jobs_config *config = &jobs->config;
    struct zygote *zygote = zygotes_take(config->zygotes, config->zygote_number);
    if (!zygote && zygotes_are_coming(config->zygotes) && ev_now(loop) - jobs->waiting_since < WAIT)
        return;
    ev_timer_stop(loop, timer);
    size_t count = jobs->waiting_count;
    jobs->waiting_count = 0;
    for (size_t i = 0; i < count; i++)
        if (!zygote || !start(jobs, jobs->waiting[i], zygote))
            refuse(jobs, jobs->waiting[i]);
}

static void let_wait(struct runner_jobs *jobs, uint16_t number) {
    if (jobs->waiting_count == 0) {
        jobs->waiting_since = ev_now(jobs->config.loop);
        ev_timer_start(jobs->config.loop, &jobs->look);
    }
    jobs->waiting[jobs->waiting_count++] = number;
}

bool runner_jobs_take(struct runner_jobs *jobs, control_message *message) {
    const runner_jobs_config *config = &jobs->config;
    if (message->kind != RUNNER_REQUEST)
        return false;
    uint16_t number = message->number;
    bool well_formed = message->count == 0 && number < RUNNER_REQUESTS_MAX;
    control_message_close(message);
    if (!well_formed || is_taken(jobs, number))
        return true; /* no agent of ours sends that, and nobody waits for an answer */
    bool allowed = message->flags == RUNNER_PYTHON && take_token(jobs) &&
                   jobs->count + jobs->waiting_count < RUNNER_REQUESTS_MAX;
    struct zygote *zygote = allowed && jobs->waiting_count == 0
                                ? zygotes_take(config->zygotes, config->zygote_number)
                                : NULL;
    if (allowed && !zygote && zygotes_are_coming(config->zygotes))
        let_wait(jobs, number);
    else if (!zygote || !start(jobs, number, zygote))
        refuse(jobs, number);
    return true;
}

json_t *runner_jobs_describe(const struct runner_jobs *jobs) {
    return json_pack("{s:I, s:I}", "forked", jobs->forked, "refused", jobs->refused);
}
