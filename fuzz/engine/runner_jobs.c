/* An agent that asks for runners, and a process that reports as one: each request gets one answer
 * at most, and no descriptor stays behind. The zygote is this target. */
#include "runner_jobs.h"

#include "log.h"
#include "runner_message.h"
#include "zygote.h"

#include "../datagram.h"

#define REPORTS_MAX 16

static int zygote;                             /* its address stands for one */
static int reports[REPORTS_MAX], report_count; /* the runners' ends */
static int asked, answered;
static bool has_groups;

struct zygote *zygotes_take(struct zygotes *set, uint64_t *number) {
    (void)set;
    *number = 1;
    return (struct zygote *)(void *)&zygote;
}

bool zygotes_are_coming(const struct zygotes *set) {
    (void)set;
    return false;
}

int zygote_send(struct zygote *to, const struct zygote_job *job, const int fds[JOB_FDS_MAX]) {
    FUZZ_CHECK((void *)to == &zygote && job->uid > 0 && fds[JOB_INIT] >= 0);
    FUZZ_CHECK(job->groups <= JOB_GROUPS_MAX);
    if (report_count == REPORTS_MAX)
        return -1;
    reports[report_count++] = dup(fds[JOB_REPORT]);
    return 0;
}

static int init_fd(void *user) {
    (void)user;
    return 0;
}

static void on_answer(control_message *message, void *user) {
    (void)user;
    answered++;
    FUZZ_CHECK(message->kind == RUNNER_GIVEN || message->kind == RUNNER_REFUSED);
    FUZZ_CHECK(message->count == (message->kind == RUNNER_GIVEN ? RUNNER_FDS : 0));
    control_message_close(message);
}

static int open_groups(int fds[JOB_GROUPS_MAX], void *user) {
    (void)user;
    for (int i = 0; i < JOB_GROUPS_MAX; i++)
        fds[i] = has_groups ? dup(0) : -1;
    return has_groups ? JOB_GROUPS_MAX : -1;
}

static void on_listener(int fd, void *user) {
    (void)user;
    close(fd);
}

/* The agent says something. */
static void ask(struct runner_jobs *jobs, struct fuzz_input *input) {
    control_message message = {.kind = fuzz_byte(input) & 1 ? RUNNER_REQUEST : 'x'};
    message.flags = (uint8_t)(fuzz_byte(input) % 2);
    message.number = (uint16_t)(fuzz_byte(input) % (RUNNER_REQUESTS_MAX + 2));
    message.count = fuzz_byte(input) % 5 == 4;
    if (message.count)
        message.fds[0] = dup(0);
    bool is_request = message.kind == RUNNER_REQUEST;
    FUZZ_CHECK(runner_jobs_take(jobs, &message) == is_request);
    asked += is_request;
    control_message_close(&message);
}

/* A runner says something. */
static void report(struct fuzz_input *input) {
    struct zygote_report words = {.stage = (int32_t)(fuzz_byte(input) % 12) - 2};
    unsigned which = fuzz_byte(input), how = fuzz_byte(input);
    if (report_count == 0)
        return;
    int *fd = &reports[which % (unsigned)report_count];
    if (*fd < 0)
        return;
    if (how >> 4 == 0) {
        close(*fd);
        *fd = -1;
    } else {
        fuzz_send_datagram(*fd, &words, how & 8 ? sizeof words : how & 7, how & 3);
    }
}

int LLVMFuzzerInitialize(int *argc, char ***argv) {
    (void)argc, (void)argv;
    log_open("fuzz", LOG_LEVEL_ERROR);
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    struct fuzz_input input = fuzz_input(bytes, length);
    struct ev_loop *loop = ev_default_loop(EVFLAG_AUTO);
    uint64_t number = 0;
    int before = fuzz_free_descriptor();
    has_groups = fuzz_byte(&input) & 1;
    report_count = asked = answered = 0;
    runner_jobs_config config = {.loop = loop,
                                 .zygote_number = &number,
                                 .init_fd = init_fd,
                                 .answer = on_answer,
                                 .groups = open_groups,
                                 .listener = on_listener,
                                 .filter_fd = 0,
                                 .processes = 10};
    struct runner_jobs *jobs = runner_jobs_new(&config);
    FUZZ_CHECK(jobs);
    while (input.length) {
        if (fuzz_byte(&input) & 1)
            ask(jobs, &input);
        else
            report(&input);
        ev_run(loop, EVRUN_NOWAIT);
        FUZZ_CHECK(answered <= asked);
    }
    runner_jobs_free(jobs);
    for (int i = 0; i < report_count; i++) {
        if (reports[i] >= 0)
            close(reports[i]);
    }
    FUZZ_CHECK(fuzz_free_descriptor() == before);
    return 0;
}
