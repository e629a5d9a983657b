/* files_transfer_test.c - large files through /files: nothing of them stays in memory. */
#include "files_fixture.h"

#include <sys/resource.h>
#include <zlib.h>

#define TOTAL ((size_t)1024 * 1024 * 1024)
#define MORE_MAX 6144 /* KiB that the process may grow by */

static char block[256 * 1024];

static long peak(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss; /* KiB */
}

static off_t size_of(const char *name) {
    char path[200];
    struct stat info;
    in_directory(path, sizeof path, name);
    return stat(path, &info) ? -1 : info.st_size;
}

static void takes_and_sends_a_gigabyte_in_constant_memory(void **state) {
    (void)state;
    struct client *client = connect_envd(&from_client);
    memset(block, 'x', sizeof block);
    request(client, "GET", "/health", "", "", 0);
    read_answer(client, false);
    long before = peak();
    double start = now();
    send_text(client, "POST /files?path=big HTTP/1.1\r\nHost: h\r\n" OCTETS
                      "Content-Length: 1073741824\r\n\r\n");
    for (size_t sent = 0; sent < TOTAL; sent += sizeof block)
        send_bytes(client, block, sizeof block);
    struct answer answer = read_answer(client, false);
    assert_int_equal(answer.status, 200);
    free(answer.body);
    assert_int_equal(size_of("big"), TOTAL);
    double middle = now();
    get(client, "/files?path=big");
    read_head(client);
    size_t got = 0;
    while (got + client->have < TOTAL) {
        got += client->have;
        client->have = 0;
        assert_true(receive(client));
    }
    double end = now();
    print_message("    1 GiB up in %.0f ms, down in %.0f ms\n", (middle - start) * 1e3,
                  (end - middle) * 1e3);
    assert_true(peak() - before < MORE_MAX);
    disconnect(client);
}

/* Zeros that are much less on the way. */
static void unpacks_much_in_constant_memory(void **state) {
    (void)state;
    struct client *client = connect_envd(&from_client), *other = connect_envd(&from_client);
    static unsigned char packed[2000000];
    memset(block, 0, sizeof block);
    z_stream stream = {.next_out = packed, .avail_out = sizeof packed};
    assert_int_equal(deflateInit2(&stream, 1, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    for (size_t done = 0; done <= TOTAL / 4; done += sizeof block) {
        stream.next_in = (unsigned char *)block;
        stream.avail_in = sizeof block;
        deflate(&stream, done < TOTAL / 4 ? Z_NO_FLUSH : Z_FINISH);
    }
    size_t length = sizeof packed - stream.avail_out;
    deflateEnd(&stream);
    request(other, "GET", "/health", "", "", 0);
    read_answer(other, false);
    long before = peak();
    request(client, "POST", "/files?path=big", OCTETS "Content-Encoding: gzip\r\n", (char *)packed,
            length);
    /* Others are served meanwhile. */
    int served = 0;
    for (; !has_answer(client); served++) {
        request(other, "GET", "/health", "", "", 0);
        read_answer(other, false);
        usleep(1000);
    }
    struct answer answer = read_answer(client, false);
    assert_int_equal(answer.status, 200);
    free(answer.body);
    assert_int_equal(size_of("big"), TOTAL / 4 + sizeof block);
    print_message("    %zu bytes became 256 MiB; %d others were answered meanwhile\n", length,
                  served);
    assert_true(served >= 4);
    assert_true(peak() - before < MORE_MAX);
    disconnect(client);
    disconnect(other);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, agent_set_up, agent_tear_down)
    const struct CMUnitTest tests[] = {
        TEST(takes_and_sends_a_gigabyte_in_constant_memory),
        TEST(unpacks_much_in_constant_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
