/* http_content_test.c - answers that are fetched: from files, and from functions. */
#include "http_fixture.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/resource.h>

#define BIG_TOTAL ((size_t)1024 * 1024 * 1024)

static http_server *server;
static int file; /* the tests' own descriptor of what is served */
static atomic_int freed;

struct count {
    int left;
    bool fails;
};

static ssize_t count_down(void *user, char *to, size_t max) {
    struct count *count = user;
    assert_true(max > 20);
    if (count->left == 0)
        return count->fails ? -1 : 0;
    return sprintf(to, "%d ", count->left--);
}

static void free_count(void *user) {
    free(user);
    freed++;
}

static void handle(http_request *request, void *user) {
    static const http_content counting = {count_down, free_count};
    (void)user;
    const char *path = http_request_path(request), *value;
    uint64_t offset = (value = http_request_query(request, "offset")) ? strtoull(value, 0, 10) : 0;
    uint64_t length = (value = http_request_query(request, "length")) ? strtoull(value, 0, 10)
                                                                      : HTTP_LENGTH_UNKNOWN;
    if (!strcmp(path, "/file")) {
        http_reply_file(request, 206, "x/y", fcntl(file, F_DUPFD_CLOEXEC, 0), offset, length);
        return;
    }
    struct count *count = malloc(sizeof *count);
    *count = (struct count){5, !strcmp(path, "/fails")};
    http_reply_content(request, 200, NULL, &counting, count, length);
}

static int set_up(void **state) {
    (void)state;
    freed = 0;
    file = memfd_create("file", MFD_CLOEXEC);
    struct ev_loop *loop = ev_loop_new(EVFLAG_AUTO);
    server = http_server_new(loop, handle, NULL, 1000);
    assert_non_null(server);
    return fixture_start(loop);
}

static int count_descriptors(void) {
    int count = 0;
    for (int fd = 0; fd < 256; fd++)
        count += fcntl(fd, F_GETFD) >= 0;
    return count;
}

/* libmicrohttpd lets go of an answer after its client has seen it. */
static void wait_for_descriptors(int count) {
    for (double start = now(); count_descriptors() != count; usleep(1000))
        assert_true(now() < start + 1);
}

static int tear_down(void **state) {
    (void)state;
    fixture_stop();
    http_server_free(server);
    ev_loop_destroy(fixture.loop);
    return close(file);
}

static struct client *connect_client(void) {
    return connect_to(server, NULL);
}

static void sends_parts_of_files(void **state) {
    (void)state;
    struct client *client = connect_client();
    assert_int_equal(write(file, "0123456789", 10), 10);
    int descriptors = count_descriptors();
    get(client, "/file?length=10");
    expect(client, 206, "0123456789");
    get(client, "/file?offset=3&length=4");
    struct answer answer = read_answer(client, false);
    assert_string_equal(answer.body, "3456");
    assert_non_null(strstr(answer.head, "Content-Type: x/y"));
    free(answer.body);
    get(client, "/file?offset=10&length=0");
    expect(client, 206, "");
    get(client, "/file?offset=8"); /* chunked */
    expect(client, 206, "89");
    get(client, "/file?offset=18");
    expect(client, 206, "");
    send_text(client, "HEAD /file?length=10 HTTP/1.1\r\nHost: h\r\n\r\n");
    answer = read_answer(client, true);
    assert_int_equal(answer.status, 206);
    assert_non_null(strstr(answer.head, "Content-Length: 10"));
    send_text(client, "HEAD /file HTTP/1.1\r\nHost: h\r\n\r\n");
    read_answer(client, true);
    get(client, "/file?length=10");
    expect(client, 206, "0123456789");
    wait_for_descriptors(descriptors);
    disconnect(client);
}

static void cuts_the_connection_when_a_file_becomes_shorter(void **state) {
    (void)state;
    struct client *client = connect_client();
    assert_int_equal(ftruncate(file, 10000000), 0);
    get(client, "/file?length=10000000");
    read_head(client);
    assert_int_equal(ftruncate(file, 5000000), 0);
    size_t got = 0;
    do {
        got += client->have;
        use(client, client->have);
    } while (receive(client));
    assert_int_equal(got, 5000000);
    disconnect(client);
}

static void sends_what_a_function_yields(void **state) {
    (void)state;
    struct client *client = connect_client();
    get(client, "/count");
    expect(client, 200, "5 4 3 2 1 ");
    get(client, "/fails");
    struct answer answer = read_answer(client, false);
    assert_true(answer.cut);
    assert_string_equal(answer.body, "5 4 3 2 1 ");
    free(answer.body);
    disconnect(client);
    while (freed < 2)
        usleep(500);
}

static void lets_go_of_the_file_when_the_client_leaves(void **state) {
    (void)state;
    struct client *client = connect_client();
    assert_int_equal(ftruncate(file, 10000000), 0);
    int descriptors = count_descriptors();
    get(client, "/file?length=10000000");
    read_head(client);
    wait_for_descriptors(descriptors + 1);
    disconnect(client);
    wait_for_descriptors(descriptors - 2); /* both ends of the connection */
}

static void sends_a_gigabyte_in_constant_memory(void **state) {
    (void)state;
    struct client *client = connect_client();
    struct rusage before, after;
    assert_int_equal(ftruncate(file, (off_t)BIG_TOTAL), 0);
    get(client, "/file?length=1073741824");
    read_head(client);
    getrusage(RUSAGE_SELF, &before);
    double start = now();
    size_t got = 0;
    while (got + client->have < BIG_TOTAL) {
        got += client->have;
        client->have = 0;
        assert_true(receive(client));
    }
    getrusage(RUSAGE_SELF, &after);
    print_message("    1 GiB sent in %.0f ms\n", (now() - start) * 1e3);
    assert_true(after.ru_maxrss - before.ru_maxrss < 4096); /* KiB */
    disconnect(client);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(sends_parts_of_files),
        TEST(cuts_the_connection_when_a_file_becomes_shorter),
        TEST(sends_what_a_function_yields),
        TEST(lets_go_of_the_file_when_the_client_leaves),
        TEST(sends_a_gigabyte_in_constant_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
