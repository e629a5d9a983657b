/* watch_scan_test.c - what a watch keeps of the directories that it reads. */
#include "watch_internal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct ev_loop *loop;
static char directory[64];
static size_t created, most_seen;
static bool has_begun;

static void on_begun(void *user) {
    (void)user;
    has_begun = true;
}

static void on_event(void *user, json_t *event) {
    directory_watch *const *watch = user;
    const char *type = json_string_value(json_object_get(event, "type"));
    created += strcmp(type, "EVENT_TYPE_CREATE") == 0;
    if ((*watch)->seen_count > most_seen)
        most_seen = (*watch)->seen_count;
    json_decref(event);
}

static void on_end(void *user, const char *code, const char *message) {
    (void)user, (void)code;
    fail_msg("%s", message);
}

static void run(const char *command) {
    char text[300];
    snprintf(text, sizeof text, "cd %s && %s", directory, command);
    FILE *shell = popen(text, "r");
    assert_non_null(shell);
    while (fgetc(shell) != EOF)
        ;
    pclose(shell);
}

static void on_time(struct ev_loop *of, struct ev_timer *timer, int events) {
    (void)timer, (void)events;
    ev_break(of, EVBREAK_ALL);
}

static void turn(double seconds) {
    struct ev_timer timer;
    ev_timer_init(&timer, on_time, seconds, 0.0);
    ev_timer_start(loop, &timer);
    ev_run(loop, 0);
}

static void keeps_no_names_longer_than_events_wait(void **state) {
    (void)state;
    static const watch_listener listener = {on_begun, on_event, on_end};
    watch_fault fault;
    strcpy(directory, "/tmp/stepbox-watch-test.XXXXXX");
    assert_non_null(mkdtemp(directory));
    loop = ev_loop_new(EVFLAG_AUTO);
    run("mkdir -p elsewhere/a watched && cd elsewhere && touch 1 2 3 4 a/5 a/6");
    char path[100];
    snprintf(path, sizeof path, "%s/watched", directory);
    directory_watch *watch = NULL;
    watch = watch_start(loop, &(watch_options){.path = path, .recursive = true}, &listener, &watch,
                        &fault);
    assert_non_null(watch);
    turn(0.05);
    assert_true(has_begun);
    run("mv elsewhere watched/new");
    for (int i = 0; i < 100 && created < 8; i++)
        turn(0.02);
    turn(0.05);
    assert_int_equal(created, 8);
    assert_int_equal(most_seen, 7); /* those that were found by reading */
    assert_int_equal(watch->seen_count, 0);
    for (size_t i = 0; i < watch->tree.bucket_count; i++) {
        for (watch_node *node = watch->tree.buckets[i]; node; node = node->chain)
            assert_null(node->seen);
    }
    watch_free(watch);
    ev_loop_destroy(loop);
    run("rm -rf elsewhere watched");
    assert_int_equal(rmdir(directory), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keeps_no_names_longer_than_events_wait),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
