/* process_reused_id_test.c - ids of processes that have exited and that others have now. */
#include "process_fixture.h"

#include <linux/sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

/* A child of ours that has the id, as the leader of a session; skips where that is not allowed. */
static void take_id(int pid) {
    pid_t wanted = pid;
    struct clone_args arguments = {
        .exit_signal = SIGCHLD, .set_tid = (uintptr_t)&wanted, .set_tid_size = 1};
    long made = syscall(SYS_clone3, &arguments, sizeof arguments);
    if (made == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        setsid();
        for (;;)
            pause();
    }
    if (made < 0)
        skip();
    assert_int_equal(made, pid);
    for (double start = now(); getpgid(pid) != pid; usleep(1000))
        assert_true(now() < start + 5);
}

static void expect_unharmed(int pid) {
    usleep(50000);
    assert_int_equal(kill(pid, 0), 0);
}

static void leaves_others_alone_that_have_its_id(void **state) {
    (void)state;
    /* It exits, but does not end: its output waits for a client that does not read. */
    struct stream stream = start_shell("Stepbox-Bound: 1\r\n", "exec head -c 520000 /dev/zero", "");
    int pid = read_pid(&stream);
    wait_until_dead(pid);
    take_id(pid);
    const int signals[] = {SIGTERM, SIGKILL};
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        char body[100];
        snprintf(body, sizeof body, "{\"process\":{\"pid\":%d},\"signal\":%d}", pid, signals[i]);
        struct client *client = connect_envd(&from_client);
        request_json(client, "POST", "/process.Process/SendSignal", body);
        struct answer answer = read_answer(client, false);
        assert_int_equal(answer.status, signals[i] == SIGKILL ? 200 : 404);
        free(answer.body);
        disconnect(client);
        expect_unharmed(pid);
    }
    close_stream(&stream);
    expect_unharmed(pid);
    kill(pid, SIGKILL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(leaves_others_alone_that_have_its_id, agent_set_up,
                                        agent_tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
