/* runner_jobs_test.c - what agents send about runners, which may be anything: each real request
 * gets one answer, all else none, and nothing stays open. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <dirent.h>
#include <ev.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "id_space.h"
#include "payload.h"
#include "runner_jobs.h"
#include "runner_message.h"
#include "zygote.h"
#include "zygote_start.h"

static struct ev_loop *loop;
static struct payload payload;

/* What the agent was answered. */
static struct {
    size_t given, refused;
    size_t by_number[RUNNER_REQUESTS_MAX];
} answers;

static uint64_t zygote_number;

static int no_init_fd(void *user) {
    (void)user;
    return -1; /* the sandbox has just ended */
}

static int no_groups(int fds[JOB_GROUPS_MAX], void *user) {
    (void)fds, (void)user;
    return 0;
}

static void count_answer(control_message *message, void *user) {
    (void)user;
    assert_true(message->number < RUNNER_REQUESTS_MAX);
    answers.by_number[message->number]++;
    answers.given += message->kind == RUNNER_GIVEN;
    answers.refused += message->kind == RUNNER_REFUSED;
    control_message_close(message);
}

static void no_listener(int fd, void *user) {
    (void)user;
    close(fd);
    fail();
}

static struct zygotes *make_zygotes(bool off) {
    struct id_space ids;
    /* Root may write to Python's program, and so is no user for a zygote. */
    bool other = id_space_find(&ids) == 0 && ids.kind == IDS_ROOT_RANGE;
    struct zygotes *zygotes = zygotes_new(&(zygotes_config){.loop = loop,
                                                            .fresh = 2,
                                                            .payload = &payload,
                                                            .uid = other ? ids.keeper_uid : 0,
                                                            .gid = other ? ids.keeper_gid : 0,
                                                            .off = off});
    assert_non_null(zygotes);
    return zygotes;
}

static struct runner_jobs *make_jobs(struct zygotes *zygotes) {
    memset(&answers, 0, sizeof answers);
    zygote_number = 0;
    struct runner_jobs *jobs =
        runner_jobs_new(&(runner_jobs_config){.loop = loop,
                                              .zygotes = zygotes,
                                              .zygote_number = &zygote_number,
                                              .init_fd = no_init_fd,
                                              .answer = count_answer,
                                              .groups = no_groups,
                                              .listener = no_listener,
                                              .filter_fd = -1});
    assert_non_null(jobs);
    return jobs;
}

static bool take(struct runner_jobs *jobs, uint8_t kind, uint8_t flags, uint16_t number) {
    control_message message = {.kind = kind, .flags = flags, .number = number};
    return runner_jobs_take(jobs, &message);
}

static size_t open_descriptors(void) {
    size_t count = 0;
    DIR *directory = opendir("/proc/self/fd");
    assert_non_null(directory);
    while (readdir(directory))
        count++;
    closedir(directory);
    return count;
}

static void without_zygotes_each_request_is_refused(void **state) {
    (void)state;
    struct zygotes *zygotes = make_zygotes(true);
    struct runner_jobs *jobs = make_jobs(zygotes);
    for (uint16_t number = 0; number < RUNNER_REQUESTS_MAX; number++)
        assert_true(take(jobs, RUNNER_REQUEST, RUNNER_PYTHON, number));
    assert_int_equal(answers.refused, RUNNER_REQUESTS_MAX);
    for (size_t number = 0; number < RUNNER_REQUESTS_MAX; number++)
        assert_int_equal(answers.by_number[number], 1);
    json_t *told = zygotes_describe(zygotes);
    assert_string_equal(json_string_value(json_object_get(told, "why")), "it is switched off");
    json_decref(told);
    runner_jobs_free(jobs);
    zygotes_free(zygotes);
}

static void what_no_agent_of_ours_sends_is_dropped(void **state) {
    (void)state;
    struct zygotes *zygotes = make_zygotes(true);
    struct runner_jobs *jobs = make_jobs(zygotes);
    size_t before = open_descriptors();
    /* Of another kind: not ours to take. */
    assert_false(take(jobs, 'C', 0, 1));
    assert_false(take(jobs, RUNNER_GIVEN, 0, 1));
    assert_false(take(jobs, RUNNER_REFUSED, 0, 1));
    /* A number that nobody waits for. */
    assert_true(take(jobs, RUNNER_REQUEST, RUNNER_PYTHON, RUNNER_REQUESTS_MAX));
    assert_true(take(jobs, RUNNER_REQUEST, RUNNER_PYTHON, 65535));
    /* With descriptors. */
    for (size_t count = 1; count <= CONTROL_FDS_MAX; count++) {
        control_message message = {.kind = RUNNER_REQUEST, .number = 1, .count = count};
        for (size_t i = 0; i < count; i++)
            message.fds[i] = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
        assert_true(runner_jobs_take(jobs, &message));
    }
    assert_int_equal(answers.refused + answers.given, 0);
    /* Another language is an answer's worth. */
    assert_true(take(jobs, RUNNER_REQUEST, 200, 3));
    assert_int_equal(answers.refused, 1);
    assert_int_equal(open_descriptors(), before);
    runner_jobs_free(jobs);
    zygotes_free(zygotes);
}

/* Runs the loop until there is an answer, or for so many seconds. */
static void run_until_answered(double seconds) {
    ev_now_update(loop);
    ev_tstamp end = ev_now(loop) + seconds;
    while (answers.refused + answers.given == 0 && ev_now(loop) < end) {
        ev_run(loop, EVRUN_NOWAIT);
        usleep(1000);
    }
}

static void need_zygotes(struct zygotes *zygotes) {
    json_t *told = zygotes_describe(zygotes);
    const char *why = json_string_value(json_object_get(told, "why"));
    if (why) {
        print_message("skipped: %s\n", why);
        json_decref(told);
        zygotes_free(zygotes);
        skip();
    }
    json_decref(told);
}

static void a_request_waits_for_a_zygote_once(void **state) {
    (void)state;
    struct zygotes *zygotes = make_zygotes(false);
    need_zygotes(zygotes);
    struct runner_jobs *jobs = make_jobs(zygotes);
    zygotes_expect(zygotes);
    assert_true(zygotes_are_coming(zygotes));
    /* Repeated, it is the same request. */
    for (int i = 0; i < 1000; i++)
        assert_true(take(jobs, RUNNER_REQUEST, RUNNER_PYTHON, 5));
    assert_int_equal(answers.refused + answers.given, 0);
    /* The sandbox has no process 1 any more when the zygote is there. */
    run_until_answered(10.0);
    assert_int_equal(answers.refused, 1);
    assert_int_equal(answers.by_number[5], 1);
    assert_int_equal(answers.given, 0);
    runner_jobs_free(jobs);
    zygotes_free(zygotes);
}

static void a_flood_is_refused_beyond_its_rate(void **state) {
    (void)state;
    struct zygotes *zygotes = make_zygotes(false);
    need_zygotes(zygotes);
    struct runner_jobs *jobs = make_jobs(zygotes);
    zygotes_expect(zygotes);
    size_t before = open_descriptors();
    /* All numbers wait; what comes on top of them is dropped, since they are taken. */
    for (int round = 0; round < 100; round++)
        for (uint16_t number = 0; number < RUNNER_REQUESTS_MAX; number++)
            assert_true(take(jobs, RUNNER_REQUEST, RUNNER_PYTHON, number));
    assert_int_equal(answers.refused + answers.given, 0);
    assert_int_equal(open_descriptors(), before);
    /* The sandbox ends meanwhile: nobody is answered any more. */
    runner_jobs_free(jobs);
    run_until_answered(0.1);
    assert_int_equal(answers.refused + answers.given, 0);

    /* With another language every request is answered at once, and takes nothing. */
    jobs = make_jobs(zygotes);
    for (int i = 0; i < 10000; i++)
        assert_true(take(jobs, RUNNER_REQUEST, 1, (uint16_t)(i % RUNNER_REQUESTS_MAX)));
    assert_int_equal(answers.refused, 10000);
    assert_int_equal(open_descriptors(), before);
    runner_jobs_free(jobs);
    zygotes_free(zygotes);
}

static void a_zygote_that_is_killed_is_replaced(void **state) {
    (void)state;
    struct zygotes *zygotes = make_zygotes(false);
    need_zygotes(zygotes);
    uint64_t number = 0;
    zygotes_expect(zygotes);
    struct zygote *zygote = NULL;
    for (int i = 0; i < 10000 && !(zygote = zygotes_take(zygotes, &number)); i++) {
        ev_run(loop, EVRUN_NOWAIT);
        usleep(1000);
    }
    assert_non_null(zygote);
    uint64_t first = number;
    /* Killed from outside: the next request finds another one, sooner or later. */
    for (pid_t pid = 2; pid < 4194304; pid++)
        if (zygotes_has(zygotes, pid))
            kill(pid, SIGKILL);
    for (int i = 0; i < 20000 && (number == first || !zygote); i++) {
        ev_run(loop, EVRUN_NOWAIT);
        usleep(1000);
        zygote = zygotes_take(zygotes, &number);
    }
    assert_non_null(zygote);
    assert_true(number != first);
    zygotes_leave(zygotes, number);
    zygotes_free(zygotes);
}

/* A runner's /proc/self/exe leads to that file: whoever may write to it outside could do so from
 * inside, as soon as nobody runs it. */
static void no_zygote_runs_a_program_that_it_could_change(void **state) {
    (void)state;
    if (access(ZYGOTE_PYTHON, W_OK) < 0) {
        print_message("skipped: this user may not write to " ZYGOTE_PYTHON "\n");
        skip();
    }
    struct zygotes *zygotes =
        zygotes_new(&(zygotes_config){.loop = loop, .fresh = 2, .payload = &payload});
    assert_non_null(zygotes);
    zygotes_expect(zygotes);
    const char *why = NULL;
    json_t *told = NULL;
    for (int i = 0; i < 5000 && !why; i++) {
        json_decref(told);
        ev_run(loop, EVRUN_NOWAIT);
        usleep(1000);
        told = zygotes_describe(zygotes);
        why = json_string_value(json_object_get(told, "why"));
    }
    assert_non_null(why);
    assert_non_null(strstr(why, "may be written"));
    json_decref(told);
    zygotes_free(zygotes);
}

static int set_up(void **state) {
    (void)state;
    const char *build = getenv("STEPBOX_BUILD");
    char agent[1024], runners[1024], message[512];
    snprintf(agent, sizeof agent, "%s/bin/stepbox-agent", build ? build : "build");
    snprintf(runners, sizeof runners, "%s/share/stepbox/runners", build ? build : "build");
    loop = ev_default_loop(EVFLAG_AUTO);
    if (!loop || payload_load(&payload, agent, runners, message, sizeof message) < 0)
        fail_msg("%s", message);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    payload_free(&payload);
    ev_loop_destroy(loop);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_zygotes_each_request_is_refused),
        cmocka_unit_test(what_no_agent_of_ours_sends_is_dropped),
        cmocka_unit_test(a_request_waits_for_a_zygote_once),
        cmocka_unit_test(a_flood_is_refused_beyond_its_rate),
        cmocka_unit_test(a_zygote_that_is_killed_is_replaced),
        cmocka_unit_test(no_zygote_runs_a_program_that_it_could_change),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
