/* runner_source_test.c - asking the engine for forked runners: each answer reaches who asked, once,
 * and what nobody asked for is closed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <dirent.h>
#include <ev.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "runner_source.h"

static struct ev_loop *loop;
static int ends[2]; /* the engine's, the agent's */
static struct runner_source *source;

/* What came for a request. */
struct told {
    int times;
    bool given;
    int fds[RUNNER_FDS];
};

static void tell(const int fds[RUNNER_FDS], void *user) {
    struct told *told = user;
    told->times++;
    told->given = fds != NULL;
    if (fds)
        memcpy(told->fds, fds, sizeof told->fds);
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

static int set_up(void **state) {
    (void)state;
    loop = ev_loop_new(EVFLAG_AUTO);
    if (!loop || control_socket_pair(ends))
        return -1;
    fcntl(ends[1], F_SETFL, O_NONBLOCK);
    source = runner_source_new(loop, ends[1]);
    return source ? 0 : -1;
}

static int tear_down(void **state) {
    (void)state;
    runner_source_free(source);
    close(ends[0]), close(ends[1]);
    ev_loop_destroy(loop);
    return 0;
}

/* The next request that the engine sees; -1 when there is none. */
static int requested(void) {
    control_message request;
    if (control_message_receive(ends[0], &request) != CONTROL_OK)
        return -1;
    assert_int_equal(request.kind, RUNNER_REQUEST);
    assert_int_equal(request.count, 0);
    return request.number;
}

/* An answer with as many descriptors, as the agent takes it. peer: the runner's end of the channel.
 */
static void answer(uint8_t kind, int number, size_t count, int *peer) {
    control_message message = {.kind = kind, .number = (uint16_t)number, .count = count};
    int channel[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, channel), 0);
    for (size_t i = 0; i < count; i++)
        message.fds[i] = fcntl(channel[0], F_DUPFD_CLOEXEC, 3);
    close(channel[0]);
    if (peer)
        *peer = channel[1];
    else
        close(channel[1]);
    assert_true(runner_source_take(source, &message));
    assert_int_equal(message.count, 0);
}

static void close_all(const int fds[RUNNER_FDS]) {
    for (int i = 0; i < RUNNER_FDS; i++)
        close(fds[i]);
}

static void answers_find_who_asked(void **state) {
    (void)state;
    struct told first = {0}, second = {0};
    assert_int_not_equal(runner_source_ask(source, tell, &first), -1);
    assert_int_not_equal(runner_source_ask(source, tell, &second), -1);
    int number = requested(), other = requested();
    assert_int_not_equal(number, other);
    answer(RUNNER_REFUSED, other, 0, NULL);
    assert_int_equal(second.times, 1);
    assert_false(second.given);
    assert_int_equal(first.times, 0);
    answer(RUNNER_GIVEN, number, RUNNER_FDS, NULL);
    assert_int_equal(first.times, 1);
    assert_true(first.given);
    close_all(first.fds);
}

static void what_nobody_asked_for_is_closed(void **state) {
    (void)state;
    struct told told = {0}, gone = {0};
    size_t before = open_descriptors();
    answer(RUNNER_GIVEN, 3, RUNNER_FDS, NULL);
    answer(RUNNER_GIVEN, 60000, RUNNER_FDS, NULL);
    assert_int_not_equal(runner_source_ask(source, tell, &told), -1);
    int number = requested();
    for (size_t count = 0; count <= CONTROL_FDS_MAX; count++) {
        if (count != RUNNER_FDS)
            answer(RUNNER_GIVEN, number, count, NULL);
        if (count != 0)
            answer(RUNNER_REFUSED, number, count, NULL);
    }
    assert_int_equal(told.times, 0);
    answer(RUNNER_REFUSED, number, 0, NULL);
    answer(RUNNER_REFUSED, number, 0, NULL);
    assert_int_equal(told.times, 1);

    int forgotten = runner_source_ask(source, tell, &gone);
    runner_source_forget(source, forgotten);
    answer(RUNNER_GIVEN, requested(), RUNNER_FDS, NULL);
    assert_int_equal(gone.times, 0);
    assert_int_equal(open_descriptors(), before);

    control_message connection = {.kind = 'C'};
    assert_false(runner_source_take(source, &connection));
}

static void no_more_are_asked_for_than_the_engine_takes(void **state) {
    (void)state;
    struct told told[RUNNER_REQUESTS_MAX];
    memset(told, 0, sizeof told);
    for (int i = 0; i < RUNNER_REQUESTS_MAX; i++)
        assert_int_not_equal(runner_source_ask(source, tell, &told[i]), -1);
    assert_int_equal(runner_source_ask(source, tell, NULL), -1);
    for (int i = 0; i < RUNNER_REQUESTS_MAX; i++)
        answer(RUNNER_REFUSED, requested(), 0, NULL);
    for (int i = 0; i < RUNNER_REQUESTS_MAX; i++)
        assert_int_equal(told[i].times, 1);
}

static void one_is_there_in_advance(void **state) {
    (void)state;
    int fds[RUNNER_FDS], peer;
    runner_source_begin(source);
    int number = requested();
    assert_false(runner_source_take_spare(source, fds));
    answer(RUNNER_GIVEN, number, RUNNER_FDS, &peer);
    assert_true(runner_source_take_spare(source, fds));
    assert_false(runner_source_take_spare(source, fds));
    close_all(fds);
    close(peer);
    /* The next is asked for a moment later. */
    assert_int_equal(requested(), -1);
    ev_run(loop, EVRUN_ONCE);
    number = requested();
    assert_int_not_equal(number, -1);
    /* One that has ended is none. */
    answer(RUNNER_GIVEN, number, RUNNER_FDS, NULL);
    size_t before = open_descriptors();
    assert_false(runner_source_take_spare(source, fds));
    assert_int_equal(open_descriptors(), before - RUNNER_FDS);
}

static void without_an_engine_there_is_none(void **state) {
    (void)state;
    int fds[RUNNER_FDS];
    assert_int_equal(runner_source_ask(NULL, tell, NULL), -1);
    assert_false(runner_source_take_spare(NULL, fds));
    runner_source_forget(NULL, 0);
    runner_source_free(NULL);
}

static void settings_of_the_interpreter_do_not_suit(void **state) {
    (void)state;
    char *usual[] = {(char *)"HOME=/home/user", (char *)"LANG=C.UTF-8", (char *)"X_PYTHON=1", NULL};
    assert_true(runner_source_suits(usual));
    static const char *const early[] = {
        "PYTHONHASHSEED=0",   "PYTHONPATH=/x",    "LD_PRELOAD=/x.so",
        "LC_ALL=de_DE",       "LANG=de_DE",       "VIRTUAL_ENV=/x",
        "MALLOC_ARENA_MAX=1", "GLIBC_TUNABLES=x", "OPENSSL_CONF=/x"};
    for (size_t i = 0; i < sizeof early / sizeof *early; i++) {
        char *variables[] = {(char *)"HOME=/home/user", (char *)early[i], NULL};
        assert_false(runner_source_suits(variables));
    }
}

#define WITH_SOURCE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        WITH_SOURCE(answers_find_who_asked),
        WITH_SOURCE(what_nobody_asked_for_is_closed),
        WITH_SOURCE(no_more_are_asked_for_than_the_engine_takes),
        WITH_SOURCE(one_is_there_in_advance),
        cmocka_unit_test(without_an_engine_there_is_none),
        cmocka_unit_test(settings_of_the_interpreter_do_not_suit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
