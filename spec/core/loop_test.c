/* The loop within a host: its descriptor, deadlines, events at the reader's pace, signals, many
 * steps. */
#include "connection.h"
#include "sigpipe.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/time.h>
#include <cmocka.h>

#define EXECUTE "POST /execute"
#define END "{\"type\": \"end_of_execution\"}\n"

/* As a host with a loop of its own does it: poll, then a step that does not wait. */
static bool poll_step(struct connection *c, int milliseconds) {
    struct pollfd poll_fd = {sb_loop_fd(c->loop), POLLIN, 0};
    int count = poll(&poll_fd, 1, milliseconds);
    assert_int_equal(sb_loop_step(c->loop, 0, &c->error), 0);
    return count > 0;
}

static void a_host_polls_one_descriptor(void **state) {
    struct connection *c = *state;
    int marks[3];
    sb_op *ops[3];
    for (int i = 0; i < 3; i++) {
        server_add_stream(c->server, EXECUTE, END, true, ANSWER_SLOWLY);
        ops[i] = sb_step(c->box, "x", 1, NULL, &c->error);
        sb_op_set_user(ops[i], &marks[i]);
    }
    int done = 0;
    while (done < 3) {
        assert_true(poll_step(c, 5000));
        for (sb_op *op; (op = sb_loop_ready(c->loop)) != NULL;) {
            assert_true(sb_op_done(op));
            ptrdiff_t which = (int *)sb_op_user(op) - marks;
            assert_ptr_equal(op, ops[which]);
            done++;
        }
    }
    /* Nothing to do: the descriptor is quiet. */
    poll_step(c, 0);
    assert_false(poll_step(c, 50));
    for (int i = 0; i < 3; i++) {
        assert_int_equal(sb_op_error(ops[i], NULL), SB_OK);
        sb_op_free(ops[i]);
    }
}

static void deadlines_make_the_descriptor_readable(void **state) {
    struct connection *c = *state;
    sb_step_options late = {.timeout = 1.5}, soon = {.timeout = 0.1};
    server_add(c->server, EXECUTE, "", ANSWER_HOLD);
    server_add(c->server, EXECUTE, "", ANSWER_HOLD);
    sb_op *second = sb_step(c->box, "x", 1, &late, &c->error);
    sb_op *first = sb_step(c->box, "x", 1, &soon, &c->error);
    double start = server_clock();
    sb_op *op;
    while ((op = sb_loop_ready(c->loop)) == NULL) {
        assert_true(poll_step(c, 5000));
    }
    assert_ptr_equal(op, first);
    assert_true(server_clock() - start < 1.4);
    while ((op = sb_loop_ready(c->loop)) == NULL) {
        assert_true(poll_step(c, 5000));
    }
    assert_ptr_equal(op, second);
    sb_op_free(first);
    sb_op_free(second);
}

static void news_without_a_descriptor_is_told_too(void **state) {
    struct connection *c = *state;
    assert_int_equal(connection_end(c, sb_box_kill(c->box, &c->error)), SB_OK);
    poll_step(c, 0);
    sb_op *op = sb_step(c->box, "x", 1, NULL, &c->error);
    assert_true(poll_step(c, 1000));
    assert_ptr_equal(sb_loop_ready(c->loop), op);
    assert_null(sb_loop_ready(c->loop));
    sb_op_free(op);
    /* One that is freed is not returned. */
    op = sb_step(c->box, "x", 1, NULL, &c->error);
    sb_op_free(op);
    assert_null(sb_loop_ready(c->loop));
}

static void a_step_of_the_loop_waits_no_longer_than_asked(void **state) {
    struct connection *c = *state;
    double start = server_clock();
    assert_int_equal(sb_loop_step(c->loop, 0.1, &c->error), 0);
    assert_true(server_clock() - start >= 0.099 && server_clock() - start < 5);
}

static void on_alarm(int signal) {
    (void)signal;
}

static void signals_do_not_end_a_wait(void **state) {
    struct connection *c = *state;
    struct sigaction action = {.sa_handler = on_alarm}, before;
    struct itimerval often = {{0, 5000}, {0, 5000}}, never = {{0, 0}, {0, 0}};
    sigaction(SIGALRM, &action, &before);
    setitimer(ITIMER_REAL, &often, NULL);
    sb_step_options options = {.timeout = 0.3};
    server_add(c->server, EXECUTE, "", ANSWER_HOLD);
    assert_int_equal(connection_end(c, sb_step(c->box, "x", 1, &options, &c->error)), SB_TIMEOUT);
    setitimer(ITIMER_REAL, &never, NULL);
    sigaction(SIGALRM, &before, NULL);
}

/* A long answer, of pieces that are numbered. */
static char *numbered(size_t count, size_t *length) {
    char *body = malloc(count * 1100 + 100), *at = body;
    for (size_t i = 0; i < count; i++) {
        at += sprintf(at, "{\"type\": \"stdout\", \"text\": \"%zu ", i);
        memset(at, 'x', 1000);
        at += 1000;
        at += sprintf(at, "\"}\n");
    }
    at += sprintf(at, END);
    *length = (size_t)(at - body);
    return body;
}

static void a_slow_reader_gets_all_events_in_order_and_stops_the_transfer(void **state) {
    struct connection *c = *state;
    const size_t count = 20000;
    size_t length, seen = 0;
    char *body = numbered(count, &length);
    server_add_stream_bytes(c->server, EXECUTE, body, length, true, ANSWER_KEEP);
    free(body);
    sb_step_options options = {.events = true, .max_output = 1000};
    sb_op *op = sb_step(c->box, "x", 1, &options, &c->error);
    /* Without a reader it comes to a stand, far from the end. */
    for (int i = 0; i < 200; i++) {
        sb_loop_step(c->loop, 0.005, NULL);
    }
    assert_false(sb_op_done(op));
    for (;;) {
        const sb_event *event = sb_op_next_event(op);
        if (event == NULL) {
            if (sb_op_done(op)) {
                break;
            }
            assert_int_equal(sb_loop_step(c->loop, 5, &c->error), 0);
            continue;
        }
        assert_int_equal(event->type, SB_EVENT_OUTPUT);
        assert_int_equal(strtoul(event->output.data, NULL, 10), seen);
        seen++;
    }
    assert_int_equal(seen, count);
    assert_int_equal(sb_op_error(op, &c->error), SB_OK);
    assert_true(sb_op_execution(op)->out_truncated);
    sb_op_free(op);
}

static void a_wait_does_not_hang_on_events_that_nobody_reads(void **state) {
    struct connection *c = *state;
    size_t length, seen = 0;
    char *body = numbered(5000, &length);
    server_add_stream_bytes(c->server, EXECUTE, body, length, true, ANSWER_KEEP);
    free(body);
    sb_step_options options = {.events = true, .timeout = 20};
    sb_op *op = sb_step(c->box, "x", 1, &options, &c->error);
    for (int i = 0; i < 100; i++) {
        sb_loop_step(c->loop, 0.005, NULL);
    }
    assert_int_equal(sb_op_wait(op, &c->error), 0);
    while (sb_op_next_event(op) != NULL) {
        seen++;
    }
    assert_int_equal(seen, 5000);
    sb_op_free(op);
}

/* A transfer that stands still ends by its deadline, with what libcurl held back. */
static void a_deadline_passes_also_while_the_reader_sleeps(void **state) {
    struct connection *c = *state;
    size_t length;
    char *body = numbered(5000, &length);
    server_add_stream_bytes(c->server, EXECUTE, body, length, true, ANSWER_KEEP);
    free(body);
    sb_step_options options = {.events = true, .timeout = 2};
    sb_op *op = sb_step(c->box, "x", 1, &options, &c->error);
    while (!sb_op_done(op)) {
        sb_loop_step(c->loop, 5, NULL);
    }
    assert_int_equal(sb_op_error(op, NULL), SB_TIMEOUT);
    size_t seen = 0;
    while (sb_op_next_event(op) != NULL) {
        seen++;
    }
    assert_true(seen > 100 && seen < 5000);
    assert_int_equal(sb_op_execution(op)->log_count, seen);
    sb_op_free(op);
}

/* The most memory since the last call, which begins anew; -1 where tools hold memory of their own.
 */
static long peak_kilobytes(void) {
    const char *preload = getenv("LD_PRELOAD");
    long kilobytes = -1;
    char line[200];
#ifdef __SANITIZE_ADDRESS__
    return -1;
#endif
    FILE *status = fopen("/proc/self/status", "re"), *clear = fopen("/proc/self/clear_refs", "we");
    while (fgets(line, sizeof line, status) != NULL) {
        sscanf(line, "VmHWM: %ld", &kilobytes);
    }
    fputs("5", clear);
    fclose(clear);
    fclose(status);
    return preload != NULL && strstr(preload, "vgpreload") != NULL ? -1 : kilobytes;
}

static void much_output_needs_little_memory_and_time(void **state) {
    struct connection *c = *state;
    size_t length;
    char *body = numbered(30000, &length);
    server_add_stream_bytes(c->server, EXECUTE, body, length, true, ANSWER_KEEP);
    free(body);
    sb_step_options options = {.max_output = 1024 * 1024};
    peak_kilobytes();
    long before = peak_kilobytes();
    double start = server_clock();
    sb_op *op = sb_step(c->box, "x", 1, &options, &c->error);
    assert_int_equal(sb_op_wait(op, &c->error), 0);
    assert_true(sb_op_execution(op)->out_truncated);
    assert_true(sb_op_execution(op)->out_length <= 1024 * 1024);
    sb_op_free(op);
    long more = peak_kilobytes() - before;
    print_message("30 MB: %.2f s, %ld kB more\n", server_clock() - start, more);
    assert_true(more < 8 * 1024);
    assert_true(server_clock() - start < 20);
}

static void many_steps_run_at_once(void **state) {
    struct connection *c = *state;
    enum { COUNT = 40 };
    sb_op *ops[COUNT];
    for (int i = 0; i < COUNT; i++) {
        char body[200];
        snprintf(body, sizeof body, "{\"type\": \"stdout\", \"text\": \"%d\"}\n" END, i);
        server_add_stream(c->server, EXECUTE, body, true, ANSWER_KEEP);
        ops[i] = sb_step(c->box, "x", 1, NULL, &c->error);
    }
    bool seen[COUNT] = {false};
    for (int i = 0; i < COUNT; i++) {
        assert_int_equal(sb_op_wait(ops[i], &c->error), 0);
        int which = atoi(sb_op_execution(ops[i])->out);
        assert_false(seen[which]);
        seen[which] = true;
        sb_op_free(ops[i]);
    }
}

static volatile sig_atomic_t pipes_broken;

static void on_sigpipe(int signal) {
    (void)signal;
    pipes_broken++;
}

static void a_broken_pipe_is_not_told_to_the_host(void **state) {
    (void)state;
    struct sigaction action = {.sa_handler = on_sigpipe}, before;
    int ends[2];
    sigset_t mask;
    sigaction(SIGPIPE, &action, &before);
    assert_int_equal(pipe(ends), 0);
    close(ends[0]);
    struct sbi_sigpipe held;
    sbi_sigpipe_hold(&held, true);
    assert_int_equal(write(ends[1], "x", 1), -1);
    sbi_sigpipe_release(&held);
    assert_int_equal(pipes_broken, 0);
    pthread_sigmask(SIG_SETMASK, NULL, &mask);
    assert_false(sigismember(&mask, SIGPIPE));
    /* The host's own still reaches it. */
    assert_int_equal(write(ends[1], "x", 1), -1);
    assert_int_equal(pipes_broken, 1);
    close(ends[1]);
    sigaction(SIGPIPE, &before, NULL);
}

static void descriptors_do_not_pass_to_programs(void **state) {
    struct connection *c = *state;
    int before[256], count = 0;
    for (int fd = 0; fd < 256; fd++) {
        before[fd] = fcntl(fd, F_GETFD);
    }
    sb_loop *loop = sb_loop_new(NULL);
    server_add(c->server, EXECUTE, "", ANSWER_HOLD);
    sb_op *op = sb_step(c->box, "x", 1, NULL, &c->error);
    sb_loop_step(c->loop, 0, NULL);
    sb_loop_step(c->loop, 0, NULL);
    for (int fd = 0; fd < 256; fd++) {
        int flags = fcntl(fd, F_GETFD);
        if (before[fd] < 0 && flags >= 0 && !(flags & FD_CLOEXEC)) {
            struct sockaddr_un address;
            socklen_t length = sizeof address;
            /* libcurl before 8.8 makes a pair of its own without the flag, to wake itself. */
            bool is_pair = getsockname(fd, (struct sockaddr *)&address, &length) == 0 &&
                           length == sizeof(sa_family_t) &&
                           getpeername(fd, (struct sockaddr *)&address, &length) == 0 &&
                           length == sizeof(sa_family_t);
            assert_true(is_pair);
            count++;
        }
    }
    assert_true(count <= 2);
    sb_op_free(op);
    sb_loop_free(loop);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        WITH(a_host_polls_one_descriptor),
        WITH(deadlines_make_the_descriptor_readable),
        WITH(news_without_a_descriptor_is_told_too),
        WITH(a_step_of_the_loop_waits_no_longer_than_asked),
        WITH(signals_do_not_end_a_wait),
        WITH(a_slow_reader_gets_all_events_in_order_and_stops_the_transfer),
        WITH_TCP(a_slow_reader_gets_all_events_in_order_and_stops_the_transfer),
        WITH(a_wait_does_not_hang_on_events_that_nobody_reads),
        WITH(a_deadline_passes_also_while_the_reader_sleeps),
        WITH(much_output_needs_little_memory_and_time),
        WITH(many_steps_run_at_once),
        cmocka_unit_test(a_broken_pipe_is_not_told_to_the_host),
        WITH(descriptors_do_not_pass_to_programs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
