/* Starting the local engine. This program is also the engine that is started: it then behaves as
 * the variable FAKE_ENGINE says. */
#include "connection.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/wait.h>
#include <cmocka.h>

static char own_path[4096];

/* --- the engine
 * -------------------------------------------------------------------------------------- */

static void note(const char *directory, const char *text) {
    char path[200];
    snprintf(path, sizeof path, "%s/log", directory);
    int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0 || write(fd, text, strlen(text)) < 0) {
        _exit(1);
    }
    close(fd);
}

/* What an engine must not inherit: descriptors beyond the pipe, blocked or ignored signals. */
static bool is_clean(void) {
    sigset_t mask;
    struct sigaction action;
    sigprocmask(SIG_SETMASK, NULL, &mask);
    sigaction(SIGUSR1, NULL, &action);
    for (int fd = 4; fd < 64; fd++) {
        if (fcntl(fd, F_GETFD) >= 0) {
            return false;
        }
    }
    return !sigismember(&mask, SIGUSR1) && action.sa_handler == SIG_DFL;
}

/* Serves until nobody has been there for a second. */
static void serve(const char *path) {
    struct server *server = calloc(1, sizeof *server);
    snprintf(server->path, sizeof server->path, "%s", path);
    pthread_mutex_init(&server->lock, NULL);
    for (size_t i = 0; i < SERVER_CONNECTIONS; i++) {
        server->connections[i].fd = -1;
    }
    if (pipe(server->stop) != 0) {
        _exit(1);
    }
    unlink(path);
    server_listen(server, false);
    pthread_create(&server->thread, NULL, server_main, server);
}

static int be_engine(const char *path) {
    const char *how = getenv("FAKE_ENGINE");
    char directory[108];
    snprintf(directory, sizeof directory, "%.*s", (int)(strrchr(path, '/') - path), path);
    note(directory, is_clean() ? "clean\n" : "dirty\n");
    if (strcmp(how, "error") == 0) {
        return write(3, "error: no user namespaces here\n", 31) == 31 ? 1 : 2;
    }
    if (strcmp(how, "dumb") == 0) {
        return write(3, "usage: cat\n", 11) == 11 ? 1 : 2;
    }
    if (strcmp(how, "silent") == 0) {
        return 1;
    }
    pid_t pid = fork();
    if (pid == 0) {
        serve(path);
        bool said = write(3, "rea", 3) == 3;
        usleep(20000);
        said = said && write(3, "dy\n", 3) == 3;
        close(3);
        sleep(2);
        _exit(said ? 0 : 1);
    }
    close(3);
    usleep(50000);
    return 0;
}

/* --- the tests
 * --------------------------------------------------------------------------------------- */

struct host {
    char directory[64], socket[108];
    sb_loop *loop;
    sb_client *client;
    sb_error error;
};

static sb_client *new_client(struct host *host, const char *engine) {
    sb_client_options options = {.socket = host->socket, .engine = engine};
    return sb_client_new(host->loop, &options, &host->error);
}

static int set_up(void **state) {
    struct host *host = calloc(1, sizeof *host);
    strcpy(host->directory, "/tmp/stepbox-spec-XXXXXX");
    assert_non_null(mkdtemp(host->directory));
    snprintf(host->socket, sizeof host->socket, "%s/s", host->directory);
    host->loop = sb_loop_new(&host->error);
    host->client = new_client(host, own_path);
    *state = host;
    return 0;
}

static int tear_down(void **state) {
    struct host *host = *state;
    char path[200];
    sb_client_free(host->client);
    sb_loop_free(host->loop);
    /* No child is left, not even dead. */
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    snprintf(path, sizeof path, "%s/log", host->directory);
    unlink(path);
    unlink(host->socket);
    rmdir(host->directory);
    free(host);
    return 0;
}

static size_t starts(struct host *host, const char *kind) {
    char path[200], line[64];
    size_t count = 0;
    snprintf(path, sizeof path, "%s/log", host->directory);
    FILE *log = fopen(path, "re");
    while (log != NULL && fgets(line, sizeof line, log) != NULL) {
        count += strcmp(line, kind) == 0;
    }
    if (log != NULL) {
        fclose(log);
    }
    return count;
}

/* Lets the child that brought the word be reaped. */
static void settle(struct host *host) {
    double start = server_clock();
    while (server_clock() - start < 0.3) {
        sb_loop_step(host->loop, 0.05, NULL);
    }
}

static sb_code create(struct host *host) {
    sb_create_options options = {.disown = true};
    sb_op *op = sb_create(host->client, &options, &host->error);
    sb_op_wait(op, &host->error);
    sb_op_free(op);
    return host->error.code;
}

static void requests_of_one_loop_share_a_start(void **state) {
    struct host *host = *state;
    sb_create_options options = {.disown = true};
    sb_client *other = new_client(host, own_path);
    sb_op *ops[8];
    setenv("FAKE_ENGINE", "good", 1);
    signal(SIGUSR1, SIG_IGN);
    for (int i = 0; i < 8; i++) {
        ops[i] = sb_create(i % 2 == 0 ? host->client : other, &options, &host->error);
    }
    sb_op *left = sb_create(host->client, &options, &host->error);
    sb_loop_step(host->loop, 0.001, NULL);
    sb_op_free(left); /* one that waits no longer disturbs nobody */
    for (int i = 0; i < 8; i++) {
        assert_int_equal(sb_op_wait(ops[i], &host->error), 0);
        sb_op_free(ops[i]);
    }
    signal(SIGUSR1, SIG_DFL);
    assert_int_equal(starts(host, "clean\n"), 1);
    assert_int_equal(starts(host, "dirty\n"), 0);
    settle(host);
    sb_client_free(other);
}

static void a_socket_that_nobody_serves_any_more_is_no_hindrance(void **state) {
    struct host *host = *state;
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    strcpy(address.sun_path, host->socket);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
    close(fd);
    setenv("FAKE_ENGINE", "good", 1);
    sb_op *op = sb_list(host->client, NULL, &host->error);
    assert_int_equal(sb_op_wait(op, &host->error), 0);
    sb_op_free(op);
    assert_int_equal(starts(host, "clean\n"), 1);
    settle(host);
}

static void check_failure(struct host *host, const char *how, const char *message) {
    setenv("FAKE_ENGINE", how, 1);
    assert_int_equal(create(host), SB_UNAVAILABLE);
    if (strstr(host->error.message, message) == NULL) {
        fail_msg("\"%s\" is not in \"%s\"", message, host->error.message);
    }
    settle(host);
}

static void an_engine_that_cannot_run_says_why(void **state) {
    struct host *host = *state;
    check_failure(host, "error", "cannot run here: no user namespaces here");
    check_failure(host, "dumb", "is no stepboxd: it says \"usage: cat\"");
    check_failure(host, "silent", "ended without a word");
    assert_int_equal(starts(host, "clean\n"), 3);
}

static void an_engine_that_is_not_there_is_named_with_the_remedy(void **state) {
    struct host *host = *state;
    sb_client_free(host->client);
    host->client = new_client(host, "/nonexistent/stepboxd");
    assert_int_equal(create(host), SB_UNAVAILABLE);
    assert_non_null(strstr(host->error.message, "/nonexistent/stepboxd"));
    assert_non_null(strstr(host->error.message, "STEPBOX_ENGINE"));
    sb_client_free(host->client);
    host->client = new_client(host, "/etc/passwd");
    assert_int_equal(create(host), SB_UNAVAILABLE);
}

/* What asks for a certain sandbox does not start an engine, which could not have it. */
static void without_an_engine_there_is_no_sandbox(void **state) {
    struct host *host = *state;
    setenv("FAKE_ENGINE", "good", 1);
    sb_op *op = sb_kill(host->client, "i123", &host->error);
    assert_int_equal(sb_op_wait(op, &host->error), -1);
    assert_int_equal(host->error.code, SB_NOT_FOUND);
    sb_op_free(op);
    assert_int_equal(starts(host, "clean\n"), 0);
}

static void a_start_can_be_given_up(void **state) {
    struct host *host = *state;
    sb_create_options options = {.disown = true};
    setenv("FAKE_ENGINE", "good", 1);
    sb_op *op = sb_create(host->client, &options, &host->error);
    for (int i = 0; i < 100 && starts(host, "clean\n") == 0; i++) {
        sb_loop_step(host->loop, 0.01, NULL);
    }
    sb_op_cancel(op);
    assert_int_equal(sb_op_error(op, NULL), SB_CANCELLED);
    sb_op_free(op);
    settle(host);
}

/* Hosts reap children that are not theirs. */
static void a_host_that_reaps_the_child_first_does_not_matter(void **state) {
    struct host *host = *state;
    setenv("FAKE_ENGINE", "good", 1);
    signal(SIGCHLD, SIG_IGN);
    assert_int_equal(create(host), SB_OK);
    settle(host);
    signal(SIGCHLD, SIG_DFL);
}

int main(int argc, char **argv) {
    if (argc == 6 && strcmp(argv[1], "--socket") == 0) {
        bool good = strcmp(argv[3], "--daemon") == 0 && strcmp(argv[4], "--ready-fd") == 0 &&
                    strcmp(argv[5], "3") == 0;
        return good ? be_engine(argv[2]) : 3;
    }
    ssize_t length = readlink("/proc/self/exe", own_path, sizeof own_path - 1);
    if (length <= 0) {
        return 1;
    }
#define WITH_HOST(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        WITH_HOST(requests_of_one_loop_share_a_start),
        WITH_HOST(a_socket_that_nobody_serves_any_more_is_no_hindrance),
        WITH_HOST(an_engine_that_cannot_run_says_why),
        WITH_HOST(an_engine_that_is_not_there_is_named_with_the_remedy),
        WITH_HOST(without_an_engine_there_is_no_sandbox),
        WITH_HOST(a_start_can_be_given_up),
        WITH_HOST(a_host_that_reaps_the_child_first_does_not_matter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
