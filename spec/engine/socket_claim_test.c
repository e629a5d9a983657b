/* socket_claim_test.c - one engine for each socket, and nothing of it left. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "socket_claim.h"

static char folder[64], path[100], message[512];

static int set_up(void **state) {
    (void)state;
    strcpy(folder, "/tmp/stepbox-claim.XXXXXX");
    if (!mkdtemp(folder))
        return -1;
    snprintf(path, sizeof path, "%s/run/engine.sock", folder);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    char run[80];
    snprintf(run, sizeof run, "%s/run", folder);
    /* Fails when anything is left in it. */
    int left = access(run, F_OK) == 0 ? rmdir(run) : 0;
    return left < 0 || rmdir(folder) < 0 ? -1 : 0;
}

static claim_result take(struct socket_claim *claim) {
    return socket_claim_take(claim, path, message, sizeof message);
}

/* A client's connection, or -1. */
static int dial(void) {
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    strcpy(address.sun_path, path);
    if (connect(fd, (struct sockaddr *)&address, sizeof address) == 0)
        return fd;
    close(fd);
    return -1;
}

static void the_first_serves_and_the_second_is_told(void **state) {
    (void)state;
    struct socket_claim first, second;
    assert_int_equal(take(&first), CLAIM_OURS);
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0700 & ~0077);
    assert_int_equal(take(&second), CLAIM_SERVED);
    int client = dial();
    assert_true(client >= 0);
    close(client);
    int copy = dup(first.listen_fd); /* as another process has it */
    socket_claim_close(&first);
    assert_int_equal(dial(), -1);
    socket_claim_withdraw(&first);
    assert_int_equal(access(path, F_OK), -1);
    close(copy);
}

static void a_socket_that_nobody_serves_is_replaced(void **state) {
    (void)state;
    struct socket_claim first, second;
    assert_int_equal(take(&first), CLAIM_OURS);
    close(first.listen_fd);
    assert_int_equal(access(path, F_OK), 0);
    assert_int_equal(take(&second), CLAIM_OURS);
    /* The first one's watchdog must not take the second one's socket away. */
    socket_claim_withdraw(&first);
    assert_int_equal(access(path, F_OK), 0);
    close(second.listen_fd);
    socket_claim_withdraw(&second);
    assert_int_equal(access(path, F_OK), -1);
}

static void leaving_waits_for_nobody_and_loses_nobody(void **state) {
    (void)state;
    struct socket_claim claim;
    assert_int_equal(take(&claim), CLAIM_OURS);
    int client = dial();
    assert_true(client >= 0);
    assert_false(socket_claim_leave(&claim));
    assert_true(claim.listen_fd >= 0);
    int second = dial(); /* as before */
    assert_true(second >= 0);
    for (int i = 0; i < 2; i++)
        close(accept(claim.listen_fd, NULL, NULL));
    close(client);
    close(second);
    assert_true(socket_claim_leave(&claim));
    assert_int_equal(claim.listen_fd, -1);
    assert_int_equal(access(path, F_OK), -1);
    /* Where the socket has been removed, by whom ever, nobody can come. */
    assert_int_equal(take(&claim), CLAIM_OURS);
    assert_int_equal(unlink(path), 0);
    assert_true(socket_claim_leave(&claim));
    assert_int_equal(take(&claim), CLAIM_OURS);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(claim.directory), 0);
    assert_true(socket_claim_leave(&claim));
}

static void a_directory_that_is_not_ours_alone_is_refused(void **state) {
    (void)state;
    struct socket_claim claim;
    char run[80], other[80];
    snprintf(run, sizeof run, "%s/run", folder);
    snprintf(other, sizeof other, "%s/other", folder);
    static const mode_t modes[] = {0750, 0701, 0720, 0777};
    assert_int_equal(mkdir(run, 0700), 0);
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        assert_int_equal(chmod(run, modes[i]), 0);
        assert_int_equal(take(&claim), CLAIM_FAILED);
        assert_non_null(strstr(message, "open to others"));
    }
    assert_int_equal(rmdir(run), 0);
    assert_int_equal(mkdir(other, 0700), 0);
    assert_int_equal(symlink(other, run), 0);
    assert_int_equal(take(&claim), CLAIM_FAILED);
    assert_int_equal(unlink(run), 0);
    assert_int_equal(rmdir(other), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_first_serves_and_the_second_is_told, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_socket_that_nobody_serves_is_replaced, set_up, tear_down),
        cmocka_unit_test_setup_teardown(leaving_waits_for_nobody_and_loses_nobody, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_directory_that_is_not_ours_alone_is_refused, set_up,
                                        tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
