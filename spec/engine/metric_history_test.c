/* metric_history_test.c - samples: the share of the processor, the ring, its bound. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "metric_history.h"
#include "process_usage.h"

static struct metric_reading reading(double clock, double cpu_seconds) {
    return (struct metric_reading){
        .at = (int64_t)(clock * 1000), .clock = clock, .cpu_time = (int64_t)(cpu_seconds * 1e9)};
}

static double percent(struct metric_history *history, double clock, double cpu_seconds,
                      double cpus) {
    struct metric_reading now = reading(clock, cpu_seconds);
    struct metric metric = metric_history_judge(history, &now, cpus);
    metric_history_add(history, &metric);
    return metric.cpu_percent;
}

static void the_share_is_of_the_time_since_the_sample_before(void **state) {
    (void)state;
    struct metric_history history = {0};
    struct metric_reading begin = reading(100, 7);
    metric_history_begin(&history, &begin);
    assert_null(metric_history_at(&history, 0));
    assert_true(percent(&history, 105, 12, 1) == 100);
    assert_true(percent(&history, 110, 12, 1) == 0);
    assert_true(percent(&history, 115, 17, 2) == 50);
    assert_true(percent(&history, 120, 32, 2) == 100); /* more than there is: a moment's excess */
    assert_true(percent(&history, 125, 30, 2) == 0);   /* what has ended may not be counted */
    assert_true(percent(&history, 130, 35, 1) == 100);
    assert_true(percent(&history, 130.01, 35, 1) == 100); /* too soon to say anything else */
    assert_int_equal(history.count, 7);
    metric_history_free(&history);
}

static void the_oldest_go_when_there_are_too_many(void **state) {
    (void)state;
    struct metric_history history = {0};
    const size_t made = METRIC_HISTORY_MAX + 100;
    for (size_t i = 0; i < made; i++) {
        struct metric metric = {.reading = {.at = (int64_t)i}};
        metric_history_add(&history, &metric);
        assert_int_equal(metric_history_at(&history, history.count - 1)->reading.at, i);
    }
    assert_int_equal(history.count, METRIC_HISTORY_MAX);
    for (size_t i = 0; i < METRIC_HISTORY_MAX; i++)
        assert_int_equal(metric_history_at(&history, i)->reading.at, 100 + i);
    assert_null(metric_history_at(&history, METRIC_HISTORY_MAX));
    metric_history_free(&history);
    assert_null(metric_history_at(&history, 0));
}

/* Starts a process that has a child; both wait. */
static pid_t start_two(void) {
    int ready[2];
    char byte;
    assert_int_equal(pipe(ready), 0);
    pid_t pid = fork();
    if (pid == 0) {
        if (fork() == 0) {
            char *memory = malloc(40 << 20);
            for (int i = 0; i < 40 << 20; i += 4096)
                memory[i] = 1;
            clock_t end = clock() + CLOCKS_PER_SEC / 5;
            while (clock() < end)
                continue;
            if (write(ready[1], memory, 1) != 1)
                _exit(1);
        }
        pause();
        _exit(0);
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    close(ready[0]), close(ready[1]);
    return pid;
}

static void processes_are_added_up_with_their_children(void **state) {
    (void)state;
    struct process_usage usage;
    setpgid(0, 0);
    pid_t pid = start_two();
    process_usage_read(pid, &usage);
    assert_int_equal(usage.processes, 2);
    assert_in_range(usage.cpu_time, 150000000, 2000000000);
    assert_in_range(usage.memory, 40 << 20, 80 << 20);
    signal(SIGTERM, SIG_IGN);
    kill(0, SIGTERM);
    waitpid(pid, NULL, 0);
    process_usage_read(pid, &usage);
    assert_int_equal(usage.processes, 0);
    assert_int_equal(usage.memory, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_share_is_of_the_time_since_the_sample_before),
        cmocka_unit_test(the_oldest_go_when_there_are_too_many),
        cmocka_unit_test(processes_are_added_up_with_their_children),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
