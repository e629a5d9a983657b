/* forward_test.c - forwards: what they ask the engine or the server for, what their clients see,
 * and what they leave behind, in a process that forked as well. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "connection.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>

static const char established[] = "HTTP/1.1 200 Connection established\r\n\r\n";

static int dial(int port) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct timeval ten = {.tv_sec = 10};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &ten, sizeof ten);
    if (connect(fd, (struct sockaddr *)&address, sizeof address) != 0) {
        close(fd);
        return -1;
    }
    return fd;
}

/* All that comes, as text; how it ends: 0, or an errno. */
static int hear_all(int fd, char *text, size_t size) {
    size_t length = 0;
    ssize_t got;
    while ((got = recv(fd, text + length, size - 1 - length, 0)) > 0) {
        length += (size_t)got;
    }
    text[length] = '\0';
    return got < 0 ? errno : 0;
}

static void assert_hears(int fd, const char *wanted) {
    char text[100] = "";
    size_t length = strlen(wanted);
    assert_int_equal(recv(fd, text, length, MSG_WAITALL), length);
    assert_string_equal(text, wanted);
}

static sb_forward *forward_to(struct connection *c, int port) {
    sb_forward *forward = sb_forward_new(c->box, port, 0, &c->error);
    if (forward == NULL) {
        fail_msg("%s", c->error.message);
    }
    return forward;
}

static void the_engine_is_asked_for_a_tunnel(void **state) {
    struct connection *c = *state;
    static const enum answer_way ways[] = {ANSWER_KEEP, ANSWER_SLOWLY};
    sb_forward *forward = forward_to(c, 8000);
    for (size_t i = 0; i < 2; i++) {
        char answer[100];
        snprintf(answer, sizeof answer, "%sfirst words", established);
        server_add(c->server, "CONNECT ", answer, ways[i]);
        int fd = dial(sb_forward_port(forward));
        assert_hears(fd, "first words");
        close(fd);
    }
    assert_int_equal(server_count(c->server, "CONNECT 8000-i123.stepbox:8000 HTTP/1.1\r\n"), 2);
    assert_int_equal(server_count(c->server, "\r\nE2b-Sandbox-Id: i123\r\n"), 2);
    assert_int_equal(server_count(c->server, "\r\nE2b-Sandbox-Port: 8000\r\n"), 2);
    sb_forward_free(forward);
}

static void what_the_engine_refuses_is_reset(void **state) {
    struct connection *c = *state;
    static const struct {
        const char *answer;
        enum answer_way way;
    } cases[] = {
        {"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 2\r\n\r\n{}", ANSWER_KEEP},
        {"HTTP/1.1 502 Bad Gateway\r\n\r\n", ANSWER_CLOSE},
        {"rubbish\r\n\r\n", ANSWER_KEEP},
        {"HTTP/1.1 200 half a head", ANSWER_CLOSE},
        {"", ANSWER_CLOSE},
    };
    char text[100], *endless = malloc(20001);
    memset(endless, 'x', 20000);
    endless[20000] = '\0';
    sb_forward *forward = forward_to(c, 8000);
    for (size_t i = 0; i <= sizeof cases / sizeof *cases; i++) {
        bool is_last = i == sizeof cases / sizeof *cases;
        server_add(c->server, "CONNECT ", is_last ? endless : cases[i].answer,
                   is_last ? ANSWER_KEEP : cases[i].way);
        int fd = dial(sb_forward_port(forward));
        assert_int_equal(hear_all(fd, text, sizeof text), ECONNRESET);
        assert_string_equal(text, "");
        close(fd);
    }
    sb_forward_free(forward);
    free(endless);
}

static void a_tunnel_that_the_engine_cuts_is_reset(void **state) {
    struct connection *c = *state;
    char text[100], answer[100];
    snprintf(answer, sizeof answer, "%shalf", established);
    server_add(c->server, "CONNECT ", answer, ANSWER_CLOSE);
    sb_forward *forward = forward_to(c, 8000);
    int fd = dial(sb_forward_port(forward));
    assert_int_equal(hear_all(fd, text, sizeof text), ECONNRESET);
    close(fd);
    sb_forward_free(forward);
}

static void a_forward_outlives_its_box(void **state) {
    struct connection *c = *state;
    sb_forward *forward = forward_to(c, 8000);
    sb_box_free(c->box);
    c->box = NULL;
    server_add(c->server, "CONNECT ", established, ANSWER_CLOSE);
    int fd = dial(sb_forward_port(forward));
    assert_true(server_saw(c->server, "CONNECT 8000-i123"));
    close(fd);
    sb_forward_free(forward);
}

static void wrong_arguments_are_refused(void **state) {
    struct connection *c = *state;
    static const int wrong[] = {-1, 0, 65536};
    for (size_t i = 0; i < 3; i++) {
        assert_null(sb_forward_new(c->box, wrong[i], 0, &c->error));
        assert_int_equal(c->error.code, SB_INVALID);
        assert_null(sb_box_host(c->box, wrong[i], &c->error));
        assert_int_equal(c->error.code, SB_INVALID);
    }
    assert_null(sb_forward_new(c->box, 1, -1, &c->error));
    assert_int_equal(c->error.code, SB_INVALID);
    assert_null(sb_forward_new(c->box, 1, 65536, &c->error));
    sb_forward *forward = forward_to(c, 1);
    assert_null(sb_forward_new(c->box, 1, sb_forward_port(forward), &c->error));
    assert_int_equal(c->error.code, SB_SYSTEM);
    sb_forward_free(forward);
    sb_forward_free(NULL);
    connection_end(c, sb_box_kill(c->box, &c->error));
    assert_null(sb_forward_new(c->box, 1, 0, &c->error));
    assert_int_equal(c->error.code, SB_CLOSED);
    assert_null(sb_box_host(c->box, 1, &c->error));
    assert_int_equal(c->error.code, SB_CLOSED);
}

/* Calls fn with the name of each entry of a directory. */
static void each_entry(const char *path, void (*fn)(const char *name, void *user), void *user) {
    DIR *directory = opendir(path);
    struct dirent *entry;
    while ((entry = readdir(directory)) != NULL) {
        if (entry->d_name[0] != '.' && atoi(entry->d_name) != dirfd(directory)) {
            fn(entry->d_name, user);
        }
    }
    closedir(directory);
}

static void count_one(const char *name, void *user) {
    (void)name;
    (*(int *)user)++;
}

static int count_entries(const char *path) {
    int count = 0;
    each_entry(path, count_one, &count);
    return count;
}

/* Which threads have SIGTERM, and which have it blocked. */
static void look_at_thread(const char *name, void *user) {
    char path[100], line[200];
    int *blocked = user;
    snprintf(path, sizeof path, "/proc/self/task/%s/status", name);
    FILE *file = fopen(path, "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        unsigned long long mask;
        if (sscanf(line, "SigBlk: %llx", &mask) == 1 && (mask & 1ull << (SIGTERM - 1)) != 0) {
            (*blocked)++;
        }
    }
    if (file != NULL) {
        fclose(file);
    }
}

static void look_at_descriptor(const char *name, void *user) {
    int fd = atoi(name), flags = fcntl(fd, F_GETFD);
    if (flags >= 0 && (flags & FD_CLOEXEC) == 0) {
        (*(int *)user)++;
    }
}

static void thread_and_descriptors_are_private_and_go(void **state) {
    struct connection *c = *state;
    int threads = count_entries("/proc/self/task"), descriptors = count_entries("/proc/self/fd");
    int blocked = 0, inherited = 0, still_inherited = 0, now_blocked = 0;
    each_entry("/proc/self/task", look_at_thread, &blocked);
    each_entry("/proc/self/fd", look_at_descriptor, &inherited);
    server_add(c->server, "CONNECT ", established, ANSWER_KEEP);
    sb_forward *forward = forward_to(c, 8000);
    int fd = dial(sb_forward_port(forward));
    assert_true(server_saw(c->server, "CONNECT "));
    assert_int_equal(count_entries("/proc/self/task"), threads + 1);
    each_entry("/proc/self/task", look_at_thread, &now_blocked);
    assert_int_equal(now_blocked, blocked + 1);
    each_entry("/proc/self/fd", look_at_descriptor, &still_inherited);
    assert_int_equal(still_inherited, inherited);
    double start = server_clock();
    sb_forward_free(forward);
    assert_true(server_clock() - start < 1.0);
    assert_int_equal(count_entries("/proc/self/task"), threads);
    char text[10];
    hear_all(fd, text, sizeof text);
    close(fd);
    for (int i = 0; i < 100 && count_entries("/proc/self/fd") > descriptors; i++) {
        server_pause();
    }
    assert_int_equal(count_entries("/proc/self/fd"), descriptors);
}

/* Ends a child without any clean-up: leak checkers would take what it has inherited for lost. */
static void vanish(int tell_fd) {
    (void)!write(tell_fd, "x", 1);
    kill(getpid(), SIGKILL);
}

/* Frees the parent's forward in a child, which must neither wait for the thread nor end it. */
static void free_in_child(sb_forward *forward) {
    int ends[2];
    char byte;
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    pid_t pid = fork();
    if (pid == 0) {
        alarm(20);
        sb_forward_free(forward);
        vanish(ends[1]);
    }
    close(ends[1]);
    assert_int_equal(read(ends[0], &byte, 1), 1);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    close(ends[0]);
}

static void a_fork_leaves_the_parents_forward_alone(void **state) {
    struct connection *c = *state;
    sb_forward *forward = forward_to(c, 8000);
    char answer[100];
    snprintf(answer, sizeof answer, "%shello", established);
    server_add(c->server, "CONNECT ", answer, ANSWER_KEEP);
    server_add(c->server, "CONNECT ", answer, ANSWER_KEEP);
    int before = dial(sb_forward_port(forward));
    assert_hears(before, "hello");
    free_in_child(forward);
    int after = dial(sb_forward_port(forward));
    assert_hears(after, "hello");
    close(before);
    close(after);
    sb_forward_free(forward);
}

static void a_child_with_copies_keeps_neither_connections_nor_port(void **state) {
    struct connection *c = *state;
    sb_forward *forward = forward_to(c, 8000);
    int hold[2], port = sb_forward_port(forward);
    char answer[100], text[10];
    snprintf(answer, sizeof answer, "%shello", established);
    server_add(c->server, "CONNECT ", answer, ANSWER_KEEP);
    int fd = dial(port);
    assert_hears(fd, "hello");
    assert_int_equal(pipe2(hold, O_CLOEXEC), 0);
    pid_t pid = fork();
    if (pid == 0) {
        char byte;
        close(hold[1]);
        close(fd);
        alarm(20);
        (void)!read(hold[0], &byte, 1);
        vanish(hold[0]);
    }
    sb_forward_free(forward);
    hear_all(fd, text, sizeof text); /* ends, though the child has a copy */
    assert_int_equal(dial(port), -1);
    forward = sb_forward_new(c->box, 8000, port, &c->error);
    assert_non_null(forward);
    sb_forward_free(forward);
    close(hold[1]);
    close(hold[0]);
    close(fd);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void a_child_may_have_forwards_of_its_own_and_exit_with_them(void **state) {
    struct connection *c = *state;
    int ends[2], status;
    unsigned char opened = 0;
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    pid_t pid = fork();
    if (pid == 0) {
        alarm(20);
        sb_error error;
        struct connection child = *c;
        child.loop = sb_loop_new(&error);
        child.client = connection_client(&child, 10);
        child.box = connection_box(&child, sb_connect(child.client, "i123", NULL, &error));
        sb_forward *mine = child.box != NULL ? sb_forward_new(child.box, 8000, 0, &error) : NULL;
        opened = mine != NULL && dial(sb_forward_port(mine)) >= 0;
        /* Through the handlers, with the thread still there. A leak checker may have a word with
         * the status: what is inherited must not be freed. */
        exit(write(ends[1], &opened, 1) == 1 ? 0 : 1);
    }
    assert_int_equal(read(ends[0], &opened, 1), 1);
    assert_true(opened);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    close(ends[0]);
    close(ends[1]);
}

static void a_server_far_away_gets_one_rewritten_request(void **state) {
    struct connection *c = *state;
    char text[200], line[64];
    sb_forward *forward = forward_to(c, 8000);
    server_add(c->server, "GET /x ", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
               ANSWER_CLOSE);
    int fd = dial(sb_forward_port(forward));
    static const char request[] = "GET /x HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Mine: 1\r\n\r\n";
    server_send(fd, request, sizeof request - 1);
    assert_int_equal(hear_all(fd, text, sizeof text), 0);
    assert_string_equal(text, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
    close(fd);
    snprintf(line, sizeof line, "\r\nHost: 127.0.0.1:%d\r\n", c->server->port);
    assert_int_equal(server_count(c->server, line), 2); /* and that of sb_connect() */
    assert_int_equal(server_count(c->server, "\r\nE2b-Sandbox-Port: 8000\r\n"), 1);
    assert_int_equal(server_count(c->server, "\r\nX-Mine: 1\r\nConnection: close\r\n\r\n"), 1);
    /* The access token is for the agent, and the key for the control plane: nothing of them. */
    for (size_t i = 0; i < c->server->request_count; i++) {
        const char *seen = c->server->requests[i];
        assert_true(
            strncmp(seen, "GET /x ", 7) != 0 ||
            (strcasestr(seen, "x-access-token") == NULL && strcasestr(seen, "x-api-key") == NULL));
    }
    sb_forward_free(forward);
}

static void a_server_far_away_that_cannot_be_reached_is_a_502(void **state) {
    struct connection *c = *state;
    char text[500];
    sb_client_options options = {
        .api_key = "key", .api_url = "http://127.0.0.1:1", .sandbox_url = "http://127.0.0.1:1"};
    char url[64];
    snprintf(url, sizeof url, "http://127.0.0.1:%d", c->server->port);
    options.api_url = url;
    sb_client *client = sb_client_new(c->loop, &options, &c->error);
    sb_box *box = connection_box(c, sb_connect(client, "i123", NULL, &c->error));
    sb_forward *forward = sb_forward_new(box, 8000, 0, &c->error);
    assert_non_null(forward);
    int fd = dial(sb_forward_port(forward));
    server_send(fd, "GET / HTTP/1.1\r\n\r\n", 18);
    assert_int_equal(hear_all(fd, text, sizeof text), 0);
    assert_int_equal(strncmp(text, "HTTP/1.1 502 Bad Gateway\r\n", 26), 0);
    close(fd);
    sb_forward_free(forward);
    sb_box_free(box);
    sb_client_free(client);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        WITH(the_engine_is_asked_for_a_tunnel),
        WITH(what_the_engine_refuses_is_reset),
        WITH(a_tunnel_that_the_engine_cuts_is_reset),
        WITH(a_forward_outlives_its_box),
        WITH(wrong_arguments_are_refused),
        WITH(thread_and_descriptors_are_private_and_go),
        WITH(a_fork_leaves_the_parents_forward_alone),
        WITH(a_child_with_copies_keeps_neither_connections_nor_port),
        WITH(a_child_may_have_forwards_of_its_own_and_exit_with_them),
        WITH_TCP(a_server_far_away_gets_one_rewritten_request),
        WITH_TCP(a_server_far_away_that_cannot_be_reached_is_a_502),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
