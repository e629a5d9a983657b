/* refused_calls_test.c - refused calls are answered, counted by name, and never take the engine's
 * time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <ev.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <pthread.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>

#include "filtered.h"
#include "refused_calls.h"

static struct ev_loop *loop;
static struct syscall_filter *filter;
static struct refused_set *set;

static int set_up(void **state) {
    (void)state;
    char message[256] = "";
    /* Without SIGCHLD: the children here are waited for. */
    loop = ev_loop_new(EVFLAG_AUTO);
    filter = syscall_filter_new(message, sizeof message);
    if (!loop || !filter)
        fail_msg("%s", message);
    set = refused_set_new(loop, filter);
    return set ? 0 : -1;
}

static int tear_down(void **state) {
    (void)state;
    refused_set_free(set);
    syscall_filter_free(filter);
    ev_loop_destroy(loop);
    return 0;
}

static char told[256]; /* the names of first calls */

static void note_first(const char *name, void *user) {
    (void)user;
    snprintf(told + strlen(told), sizeof told - strlen(told), "%s ", name);
}

static void need_counting(void) {
    if (syscall_filter_is_counted(filter))
        return;
    print_message("skipped: this kernel, or what we run in, gives no listener\n");
    skip();
}

static void on_time(struct ev_loop *looping, ev_timer *timer, int events) {
    (void)timer, (void)events;
    ev_break(looping, EVBREAK_ALL);
}

static void run_for(double seconds) {
    ev_timer timer;
    ev_now_update(loop);
    ev_timer_init(&timer, on_time, seconds, 0.0);
    ev_timer_start(loop, &timer);
    ev_run(loop, 0);
    ev_timer_stop(loop, &timer);
}

/* Runs the loop until no process is left under a filter; fails after ten seconds. */
static void run_to_end(struct refused_calls *calls) {
    for (int i = 0; i < 1000 && refused_calls_listeners(calls) > 0; i++)
        run_for(0.01);
    assert_int_equal(refused_calls_listeners(calls), 0);
}

static pid_t start(struct refused_calls *calls, filtered_body *body, void *argument) {
    int listener = -1;
    pid_t child = filtered_start(filter, &listener, body, argument);
    assert_true(child > 0 && listener >= 0);
    assert_int_equal(refused_calls_add(calls, listener), 0);
    return child;
}

static long count_of(const struct refused_calls *calls, const char *name) {
    json_t *object = refused_calls_describe(calls);
    long count = (long)json_integer_value(json_object_get(object, name));
    json_decref(object);
    return count;
}

#define MUST(condition)                                                                            \
    if (!(condition))                                                                              \
    return __LINE__ % 250
static int be_refused(void *argument) {
    (void)argument;
    for (int i = 0; i < 3; i++)
        MUST(mount("none", "/", "tmpfs", 0, NULL) == -1 && errno == EPERM);
    MUST(ptrace(PTRACE_TRACEME, 0, NULL, NULL) == -1 && errno == EPERM);
    MUST(syscall(500) == -1 && errno == ENOSYS);
    MUST(syscall(100000) == -1 && errno == ENOSYS);
    MUST(ioctl(0, 0x5490, NULL) == -1 && errno == ENOTTY);
    MUST(ioctl(0, 0x100000000 | TIOCSTI, "x") == -1 && errno == EPERM);
    MUST(syscall(435 /* clone3 */, NULL, 0) == -1 && errno == ENOSYS);
    pid_t child = fork();
    if (child == 0)
        _exit(socket(AF_INET, SOCK_RAW, 1) == -1 && errno == EPERM ? 0 : 1);
    MUST(filtered_wait(child) == 0);
    return 0;
}

static void calls_are_refused_and_counted_by_name(void **state) {
    (void)state;
    need_counting();
    struct refused_calls *calls = refused_calls_new(set, note_first, NULL);
    told[0] = '\0';
    pid_t first = start(calls, be_refused, NULL), second = start(calls, be_refused, NULL);
    assert_int_equal(refused_calls_listeners(calls), 2);
    run_to_end(calls);
    assert_int_equal(filtered_wait(first), 0);
    assert_int_equal(filtered_wait(second), 0);
    json_t *expected = json_pack("{s:i, s:i, s:i, s:i, s:i, s:i}", "mount", 6, "ptrace", 2,
                                 "syscall_500", 2, "other", 2, "ioctl", 4, "socket", 2);
    json_t *counts = refused_calls_describe(calls);
    char *text = json_dumps(counts, 0);
    assert_string_equal(told, "mount ptrace syscall_500 other ioctl socket ");
    if (!json_equal(counts, expected))
        fail_msg("%s", text);
    free(text);
    json_decref(counts);
    json_decref(expected);
    refused_calls_free(calls);
}

static void what_is_no_listener_is_not_taken(void **state) {
    (void)state;
    struct refused_calls *calls = refused_calls_new(set, note_first, NULL);
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(refused_calls_add(calls, ends[0]), -1);
    assert_int_equal(errno, ENOTTY);
    assert_int_equal(fcntl(ends[0], F_GETFD), -1);
    assert_int_equal(refused_calls_add(calls, -1), -1);
    close(ends[1]);
    refused_calls_free(calls);
}

static int call_once(void *argument) {
    (void)argument;
    MUST(syscall(SYS_unshare, 0) == -1);
    return errno;
}

static void callers_go_on_when_nobody_answers_any_more(void **state) {
    (void)state;
    need_counting();
    struct refused_calls *calls = refused_calls_new(set, note_first, NULL);
    pid_t child = start(calls, call_once, NULL);
    usleep(100000);
    refused_calls_free(calls);
    assert_int_equal(filtered_wait(child), ENOSYS);
}

static int call_for_ever(void *argument) {
    (void)argument;
    while (syscall(SYS_unshare, 0) < 0)
        ;
    return 0;
}

static void callers_may_be_killed_at_any_time(void **state) {
    (void)state;
    need_counting();
    struct refused_calls *calls = refused_calls_new(set, note_first, NULL);
    for (int i = 0; i < 20; i++) {
        pid_t child = start(calls, call_for_ever, NULL);
        run_for(0.003);
        kill(child, SIGKILL);
        if (i % 2)
            run_for(0.003);
        assert_int_equal(filtered_wait(child), 128 + SIGKILL);
    }
    run_to_end(calls);
    refused_calls_free(calls);
}

static void nothing(int number) {
    (void)number;
}

static int call_under_signals(void *argument) {
    (void)argument;
    struct itimerval often = {{0, 500}, {0, 500}};
    struct sigaction action = {.sa_handler = nothing, .sa_flags = SA_RESTART};
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
    for (int i = 0; i < 100; i++)
        MUST(syscall(SYS_unshare, 0) == -1 && (errno == EPERM || errno == EINTR));
    return 0;
}

static void signals_do_not_hinder(void **state) {
    (void)state;
    need_counting();
    struct refused_calls *calls = refused_calls_new(set, note_first, NULL);
    pid_t child = start(calls, call_under_signals, NULL);
    run_to_end(calls);
    assert_int_equal(filtered_wait(child), 0);
    assert_true(count_of(calls, "unshare") <= 100);
    refused_calls_free(calls);
}

static void *flood(void *argument) {
    call_for_ever(argument);
    return NULL;
}

static int call_in_threads(void *argument) {
    pthread_t thread;
    for (int i = 1; i < 64; i++)
        if (pthread_create(&thread, NULL, flood, NULL) != 0)
            return 1;
    return call_for_ever(argument);
}

static double processor_seconds(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

#define FLOODED_SECONDS 2.0
static void a_flood_takes_little_of_the_engine_and_no_others_answers(void **state) {
    (void)state;
    need_counting();
    struct refused_calls *loud = refused_calls_new(set, note_first, NULL),
                         *quiet = refused_calls_new(set, note_first, NULL);
    pid_t flooder = start(loud, call_in_threads, NULL);
    run_for(1.0); /* uses its burst up */
    double before = processor_seconds();
    long counted = count_of(loud, "unshare");
    run_for(FLOODED_SECONDS);
    double used = (processor_seconds() - before) / FLOODED_SECONDS;
    long answers = count_of(loud, "unshare") - counted;
    print_message("%ld answers, %.2f %% of a processor\n", answers, used * 100);
    assert_true(answers > 100 && answers < 1200 * FLOODED_SECONDS);
    assert_true(used < 0.05);

    pid_t other = start(quiet, call_once, NULL);
    run_to_end(quiet);
    assert_int_equal(filtered_wait(other), EPERM);
    assert_int_equal(refused_calls_listeners(loud), 1);
    kill(flooder, SIGKILL);
    filtered_wait(flooder);
    run_to_end(loud);
    refused_calls_free(loud);
    refused_calls_free(quiet);
}

#define MANY 24
static void many_floods_share_what_the_engine_gives_to_all(void **state) {
    (void)state;
    need_counting();
    struct refused_calls *calls[MANY];
    pid_t children[MANY];
    long first[MANY], all = 0, least = 1000000;
    for (int i = 0; i < MANY; i++) {
        calls[i] = refused_calls_new(set, note_first, NULL);
        children[i] = start(calls[i], call_for_ever, NULL);
    }
    run_for(4.0); /* until the bursts are used up */
    for (int i = 0; i < MANY; i++)
        first[i] = count_of(calls[i], "unshare");
    run_for(FLOODED_SECONDS);
    for (int i = 0; i < MANY; i++) {
        long answers = count_of(calls[i], "unshare") - first[i];
        all += answers;
        if (answers < least)
            least = answers;
        kill(children[i], SIGKILL);
        filtered_wait(children[i]);
        refused_calls_free(calls[i]);
    }
    print_message("%ld answers in all, at least %ld each\n", all, least);
    assert_true(all < 3000 * FLOODED_SECONDS);
    assert_true(least > 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_are_refused_and_counted_by_name),
        cmocka_unit_test(what_is_no_listener_is_not_taken),
        cmocka_unit_test(callers_go_on_when_nobody_answers_any_more),
        cmocka_unit_test(callers_may_be_killed_at_any_time),
        cmocka_unit_test(signals_do_not_hinder),
        cmocka_unit_test(a_flood_takes_little_of_the_engine_and_no_others_answers),
        cmocka_unit_test(many_floods_share_what_the_engine_gives_to_all),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
