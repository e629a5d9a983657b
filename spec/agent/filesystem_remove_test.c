/* filesystem_remove_test.c - removing files and trees, and nothing else. */
#include "filesystem_fixture.h"

static void remove_path(struct client *client, const char *path) {
    json_t *answer = call_path(client, "Remove", path, 200);
    assert_int_equal(json_object_size(answer), 0);
    json_decref(answer);
}

static bool exists(const char *name) {
    struct stat st;
    return lstat(below(name), &st) == 0;
}

static void removes_files_and_links(void **state) {
    (void)state;
    struct client *client = connect_envd(&from_client);
    write_file("file", "");
    assert_int_equal(symlink("file", below("link")), 0);
    remove_path(client, "link");
    assert_true(exists("file"));
    assert_false(exists("link"));
    remove_path(client, "file");
    assert_false(exists("file"));
    remove_path(client, "file"); /* and again: it is not there, as was asked for */
    remove_path(client, "missing/x");
    disconnect(client);
}

static void removes_trees_but_nothing_outside(void **state) {
    (void)state;
    struct client *client = connect_envd(&from_client);
    mkdir(below("outside"), 0755);
    write_file("outside/file", "");
    mkdir(below("tree"), 0755);
    mkdir(below("tree/a"), 0755);
    mkdir(below("tree/a/b"), 0755);
    write_file("tree/a/b/c", "");
    write_file("tree/new\nline", "");
    write_file("tree/\xff", "");
    mkfifo(below("tree/fifo"), 0600);
    assert_int_equal(symlink("../outside", below("tree/link")), 0);
    assert_int_equal(symlink("../../outside", below("tree/a/link")), 0);
    assert_int_equal(symlink("outside", below("to-outside")), 0);
    remove_path(client, "tree");
    assert_false(exists("tree"));
    remove_path(client, "to-outside");
    assert_false(exists("to-outside"));
    assert_true(exists("outside/file"));
    disconnect(client);
}

static void keeps_what_the_sandbox_needs(void **state) {
    (void)state;
    struct client *client = connect_envd(&from_client);
    static const char *const paths[] = {"/", "", "~", "/tmp", "/tmp/"};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
        expect_error(call_path(client, "Remove", paths[i], 400), "failed_precondition",
                     "the sandbox needs this directory");
    expect_error(call_path(client, "Remove", "/tmp/.", 400), "invalid_argument", "dot");
    expect_error(call_path(client, "Remove", "/tmp/..", 400), "invalid_argument", "dot");
    expect_error(call_path(client, "Remove", "/proc", 400), "failed_precondition", "/proc");
    assert_true(exists("python/main.py"));
    disconnect(client);
}

static void names_what_cannot_be_removed(void **state) {
    (void)state;
    struct client *client = connect_envd(&from_client);
    expect_error(call_path(client, "Remove", "/proc/self", 403), "permission_denied",
                 "cannot remove '/proc/self'");
    expect_error(call(client, "Remove", "{\"path\":\"a\\u0000\"}", 400), "invalid_argument", "NUL");
    disconnect(client);
}

/* Makes directories within each other, without their path becoming too long for a call. */
static void make_deep(const char *name, int levels) {
    int fd = open(directory, O_PATH | O_CLOEXEC);
    for (int i = 0; i < levels; i++) {
        assert_int_equal(mkdirat(fd, i ? "d" : name, 0755), 0);
        int inner = openat(fd, i ? "d" : name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        assert_true(inner >= 0);
        close(fd);
        fd = inner;
        if (i % 100 == 0)
            close(openat(fd, "file", O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
    }
    close(fd);
}

static void removes_very_deep_trees(void **state) {
    (void)state;
    struct client *client = connect_envd(&from_client);
    int descriptors = count_descriptors();
    make_deep("deep", 5000);
    remove_path(client, "deep");
    assert_false(exists("deep"));
    assert_int_equal(count_descriptors(), descriptors);
    disconnect(client);
}

static void removes_many_files_and_answers_others_meanwhile(void **state) {
    (void)state;
    struct client *client = connect_envd(&from_client), *other = connect_envd(&from_client);
    char from[300], path[300];
    mkdir(below("many"), 0755);
    snprintf(from, sizeof from, "%s/many/first", directory);
    make_file_at(from);
    for (int i = 0; i < 20000; i++) {
        snprintf(path, sizeof path, "%s/many/%d", directory, i);
        assert_int_equal(i % 10 == 0 ? mkdir(path, 0700) : link(from, path), 0);
    }
    send_call(client, "Remove", "{\"path\":\"many\"}");
    get(other, "/health");
    double began = now();
    assert_int_equal(read_answer(other, false).status, 204);
    assert_true(!has_answer(client) || now() - began < 0.2);
    json_decref(take_message(client, 200));
    assert_false(exists("many"));
    disconnect(client);
    disconnect(other);
}

static void stops_when_the_client_leaves(void **state) {
    (void)state;
    int descriptors = count_descriptors();
    struct client *client = connect_envd(&from_client);
    char from[300], path[300];
    mkdir(below("many"), 0755);
    snprintf(from, sizeof from, "%s/many/first", directory);
    make_file_at(from);
    for (int i = 0; i < 60000; i++) {
        snprintf(path, sizeof path, "%s/many/%d", directory, i);
        assert_int_equal(link(from, path), 0);
    }
    send_call(client, "Remove", "{\"path\":\"many\"}");
    disconnect(client);
    for (int i = 0; i < 1000 && count_descriptors() > descriptors; i++)
        usleep(2000);
    assert_int_equal(count_descriptors(), descriptors);
    assert_true(exists("many"));
}

static void *fill(void *stop) {
    char path[300];
    for (int i = 0; !*(volatile bool *)stop; i++) {
        snprintf(path, sizeof path, "%s/contested/%d", directory, i % 50);
        if (i % 3 == 0)
            mkdir(path, 0700);
        else if (i % 3 == 1)
            close(open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
        else if (symlink("../outside", path) == 0)
            usleep(5);
        usleep(20);
    }
    return NULL;
}

static void removes_what_others_are_changing(void **state) {
    (void)state;
    struct client *client = connect_envd(&from_client);
    pthread_t thread;
    volatile bool stop = false;
    mkdir(below("outside"), 0755);
    write_file("outside/file", "");
    mkdir(below("contested"), 0755);
    assert_int_equal(pthread_create(&thread, NULL, fill, (void *)&stop), 0);
    for (int i = 0; i < 30; i++) {
        send_call(client, "Remove", "{\"path\":\"contested\"}");
        struct answer answer = read_answer(client, false);
        /* It may never get the directory empty; that is told, then. */
        assert_true(answer.status == 200 || strstr(answer.body, "irectory not empty"));
        free(answer.body);
        mkdir(below("contested"), 0755);
    }
    stop = true;
    pthread_join(thread, NULL);
    assert_true(exists("outside/file"));
    disconnect(client);
}

/* Rights do not bind the superuser, so another user does this. */
static void removes_what_it_owns_but_closed(void **state) {
    (void)state;
    if (geteuid() == 0 && (chmod(directory, 0777) || seteuid(65534)))
        skip();
    mkdir(below("closed"), 0755);
    mkdir(below("closed/inner"), 0755);
    make_file_at(below("closed/inner/file"));
    chmod(below("closed/inner"), 0500);
    mkdir(below("closed/blind"), 0755);
    make_file_at(below("closed/blind/file"));
    chmod(below("closed/blind"), 0);
    chmod(below("closed"), 0500);
    struct client *client = connect_envd(&from_client);
    json_t *answer = call_path(client, "Remove", "closed", 200);
    if (getuid() == 0)
        assert_int_equal(seteuid(0), 0);
    json_decref(answer);
    assert_false(exists("closed"));
    disconnect(client);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, agent_set_up, agent_tear_down)
    const struct CMUnitTest tests[] = {
        TEST(removes_files_and_links),
        TEST(removes_trees_but_nothing_outside),
        TEST(keeps_what_the_sandbox_needs),
        TEST(names_what_cannot_be_removed),
        TEST(removes_very_deep_trees),
        TEST(removes_many_files_and_answers_others_meanwhile),
        TEST(stops_when_the_client_leaves),
        TEST(removes_what_others_are_changing),
        TEST(removes_what_it_owns_but_closed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
