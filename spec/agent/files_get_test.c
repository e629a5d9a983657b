/* files_get_test.c - GET and HEAD /files. */
#include "files_fixture.h"

#include <sys/un.h>
#include <zlib.h>

static void sends_every_byte_and_nothing(void **state) {
    (void)state;
    char bytes[512], path[200];
    for (int i = 0; i < 512; i++)
        bytes[i] = (char)i;
    in_directory(path, sizeof path, "all");
    FILE *file = fopen(path, "w");
    fwrite(bytes, 1, sizeof bytes, file);
    fclose(file);
    write_file("empty", "");
    struct answer answer = download("/files?path=all", "");
    assert_true(head_has(&answer, "Content-Type: application/octet-stream"));
    assert_true(head_has(&answer, "Content-Length: 512"));
    assert_true(head_has(&answer, "Accept-Ranges: bytes"));
    assert_true(head_has(&answer, "Vary: Accept-Encoding"));
    assert_true(head_has(&answer, "Content-Disposition: inline; filename=\"all\""));
    assert_non_null(strstr(answer.head, "Last-Modified: "));
    expect_body(answer, 200, bytes, sizeof bytes);
    answer = download("/files?path=~/empty&username=user", "");
    assert_true(head_has(&answer, "Content-Length: 0"));
    expect_body(answer, 200, "", 0);
    answer = ask("HEAD", "/files?path=all", "", "", 0);
    assert_int_equal(answer.status, 200);
    assert_true(head_has(&answer, "Content-Length: 512"));
    /* An absolute path, on a connection that the gateway shares. */
    char target[300];
    snprintf(target, sizeof target, "/files?path=%s", path);
    answer = download(target, "E2b-Sandbox-Id: x\r\n");
    assert_true(head_has(&answer, "Connection: close"));
    expect_body(answer, 200, bytes, sizeof bytes);
}

static void finds_names_of_all_kinds(void **state) {
    (void)state;
    static const struct {
        const char *name, *escaped, *disposition;
    } names[] = {
        {"a b", "a%20b", "inline; filename=\"a b\""},
        {"+", "%2B", "inline; filename=\"+\""},
        {"new\nline", "new%0Aline", "inline; filename*=UTF-8''new%0Aline"},
        {"q\"uo'te\\", "q%22uo'te%5C", "inline; filename*=UTF-8''q%22uo%27te%5C"},
        {"\xf0\x9f\x8e\x89.txt", "%F0%9F%8E%89.txt", "inline; filename*=UTF-8''%F0%9F%8E%89.txt"},
        {"\xff", "%FF", "inline; filename*=UTF-8''%FF"},
        {"100%", "100%25", "inline; filename*=UTF-8''100%25"},
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char target[200], line[200];
        write_file(names[i].name, names[i].name);
        snprintf(target, sizeof target, "/files?path=%s", names[i].escaped);
        snprintf(line, sizeof line, "Content-Disposition: %s", names[i].disposition);
        struct answer answer = download(target, "");
        if (!head_has(&answer, line))
            fail_msg("%s", answer.head);
        expect_body(answer, 200, names[i].name, strlen(names[i].name));
    }
    write_file("page.HTML", "x");
    struct answer answer = download("/files?path=page.HTML", "");
    assert_true(head_has(&answer, "Content-Type: text/html; charset=utf-8"));
    free(answer.body);
}

static void refuses_what_is_no_file(void **state) {
    (void)state;
    char path[200], target[4300];
    write_file("file", "x");
    in_directory(path, sizeof path, "dir");
    mkdir(path, 0755);
    in_directory(path, sizeof path, "fifo");
    mkfifo(path, 0644);
    in_directory(path, sizeof path, "loop");
    assert_int_equal(symlink("loop", path), 0);
    in_directory(path, sizeof path, "dangling");
    assert_int_equal(symlink("nowhere", path), 0);
    expect_error(download("/files?path=dir", ""), 400, "/dir' is a directory");
    expect_error(download("/files?path=dir/", ""), 400, "is a directory");
    expect_error(download("/files", ""), 400, "is a directory");
    expect_error(download("/files?path=none", ""), 404, "/none' does not exist");
    expect_error(download("/files?path=dangling", ""), 404, "/dangling' does not exist");
    expect_error(download("/files?path=fifo", ""), 400, "is not a regular file");
    expect_error(download("/files?path=/dev/null", ""), 400, "is not a regular file");
    expect_error(download("/files?path=loop", ""), 400, "too many symbolic links");
    expect_error(download("/files?path=file/x", ""), 400, "not a directory");
    expect_error(download("/files?path=~other/x", ""), 400, "home");
    snprintf(target, sizeof target, "/files?path=%0300d", 1);
    expect_error(download(target, ""), 400, "too long");
    snprintf(target, sizeof target, "/files?path=%04200d", 1);
    struct client *client = connect_envd(&from_client);
    char text[5000];
    int length = snprintf(text, sizeof text, "GET %s HTTP/1.1\r\nHost: h\r\n\r\n", target);
    send_bytes(client, text, (size_t)length);
    expect_error(read_answer(client, false), 400, "too long");
    disconnect(client);
    expect_error(download("/files?path=file&username=nobody-else", ""), 401, "no such user");
    if (getuid() != 0) {
        in_directory(path, sizeof path, "file");
        chmod(path, 0);
        expect_error(download("/files?path=file", ""), 403, "permission denied");
    }
    struct answer answer = ask("PUT", "/files?path=file", "", "", 0);
    assert_int_equal(answer.status, 405);
    free(answer.body);
}

static void sends_parts(void **state) {
    (void)state;
    write_file("digits", "0123456789");
    write_file("empty", "");
    struct answer answer = download("/files?path=digits", "Range: bytes=2-4\r\n");
    assert_true(head_has(&answer, "Content-Range: bytes 2-4/10"));
    assert_true(head_has(&answer, "Content-Length: 3"));
    expect_body(answer, 206, "234", 3);
    expect_body(download("/files?path=digits", "Range: bytes=-1\r\n"), 206, "9", 1);
    expect_body(download("/files?path=digits", "Range: bytes=5-\r\nAccept-Encoding: gzip\r\n"), 206,
                "56789", 5);
    expect_body(download("/files?path=digits", "Range: bytes=0-1,3-4\r\n"), 200, "0123456789", 10);
    expect_body(download("/files?path=digits", "Range: rubbish\r\n"), 200, "0123456789", 10);
    answer = download("/files?path=digits", "Range: bytes=10-\r\n");
    assert_true(head_has(&answer, "Content-Range: bytes */10"));
    expect_error(answer, 416, "beyond");
    expect_body(download("/files?path=empty", "Range: bytes=0-\r\n"), 200, "", 0);
    answer = ask("HEAD", "/files?path=digits", "Range: bytes=2-4\r\n", "", 0);
    assert_int_equal(answer.status, 206);
    assert_true(head_has(&answer, "Content-Length: 3"));
    expect_error(download("/files?path=digits",
                          "Range: bytes=2-4\r\nAccept-Encoding: gzip, identity;q=0\r\n"),
                 406, "no acceptable encoding found");
}

static void tells_whether_a_copy_is_still_right(void **state) {
    (void)state;
    write_file("f", "0123456789");
    struct answer answer = download("/files?path=f", "");
    char tag[100], date[100], headers[300];
    assert_int_equal(sscanf(strstr(answer.head, "ETag: "), "ETag: %99s", tag), 1);
    assert_int_equal(
        sscanf(strstr(answer.head, "Last-Modified: "), "Last-Modified: %99[^\r]", date), 1);
    free(answer.body);
    snprintf(headers, sizeof headers, "If-None-Match: \"x\", W/%s\r\n", tag);
    assert_int_equal(ask("HEAD", "/files?path=f", headers, "", 0).status, 304);
    snprintf(headers, sizeof headers, "If-Modified-Since: %s\r\n", date);
    assert_int_equal(ask("HEAD", "/files?path=f", headers, "", 0).status, 304);
    expect_body(download("/files?path=f", "If-None-Match: \"x\"\r\n"), 200, "0123456789", 10);
    expect_body(download("/files?path=f", "If-Modified-Since: Mon, 01 Jan 2001 00:00:00 GMT\r\n"),
                200, "0123456789", 10);
    expect_body(download("/files?path=f", "If-Modified-Since: rubbish\r\n"), 200, "0123456789", 10);
    snprintf(headers, sizeof headers, "Range: bytes=0-1\r\nIf-Range: %s\r\n", tag);
    expect_body(download("/files?path=f", headers), 206, "01", 2);
    snprintf(headers, sizeof headers, "Range: bytes=0-1\r\nIf-Range: %s\r\n", date);
    expect_body(download("/files?path=f", headers), 206, "01", 2);
    write_file("f", "9876543210");
    snprintf(headers, sizeof headers, "Range: bytes=0-1\r\nIf-Range: %s\r\n", tag);
    expect_body(download("/files?path=f", headers), 200, "9876543210", 10);
}

static void packs_when_asked(void **state) {
    (void)state;
    size_t size = 5000000;
    char *bytes = malloc(size + 1);
    for (size_t i = 0; i < size; i++)
        bytes[i] = (char)('a' + i * i % 23 % 7);
    memset(bytes + 1000000, 'z', 3000000); /* packs very well */
    bytes[size] = '\0';
    write_file("text", bytes);
    struct answer answer = download("/files?path=text", "Accept-Encoding: br;q=0.5, gzip\r\n");
    assert_int_equal(answer.status, 200);
    assert_true(head_has(&answer, "Content-Encoding: gzip"));
    assert_true(answer.length < size / 2);
    char *unpacked = malloc(size + 1);
    z_stream stream = {.next_in = (unsigned char *)answer.body,
                       .avail_in = (unsigned)answer.length,
                       .next_out = (unsigned char *)unpacked,
                       .avail_out = (unsigned)size + 1};
    assert_int_equal(inflateInit2(&stream, 15 + 16), Z_OK);
    assert_int_equal(inflate(&stream, Z_FINISH), Z_STREAM_END);
    assert_int_equal(stream.total_out, size);
    assert_int_equal(stream.avail_in, 0);
    inflateEnd(&stream);
    assert_memory_equal(unpacked, bytes, size);
    free(unpacked);
    free(answer.body);
    answer = ask("HEAD", "/files?path=text", "Accept-Encoding: gzip\r\n", "", 0);
    assert_true(head_has(&answer, "Content-Length: 5000000"));
    expect_body(download("/files?path=text", "Accept-Encoding: identity\r\n"), 200, bytes, size);
    expect_body(download("/files?path=text", "Accept-Encoding: br\r\n"), 200, bytes, size);
    expect_error(download("/files?path=text", "Accept-Encoding: identity;q=0\r\n"), 406,
                 "no acceptable encoding found, supported: [identity, gzip]");
    /* It can be left in the middle. */
    struct client *client = connect_envd(&from_client);
    request(client, "GET", "/files?path=text", "Accept-Encoding: gzip\r\n", "", 0);
    receive(client);
    disconnect(client);
    free(bytes);
}

static void sends_files_that_say_they_are_empty(void **state) {
    (void)state;
    struct answer answer = download("/files?path=/proc/self/status", "");
    assert_int_equal(answer.status, 200);
    assert_non_null(strcasestr(answer.head, "\r\nTransfer-Encoding: chunked"));
    assert_non_null(strstr(answer.body, "VmHWM"));
    free(answer.body);
    answer = download("/files?path=/proc/self/maps", "Range: bytes=0-3\r\n");
    assert_int_equal(answer.status, 200);
    assert_true(answer.length > 1000);
    free(answer.body);
    if (access("/sys/kernel/mm/transparent_hugepage/enabled", R_OK) == 0) {
        answer = download("/files?path=/sys/kernel/mm/transparent_hugepage/enabled", "");
        assert_int_equal(answer.status, 200);
        assert_non_null(strstr(answer.body, "madvise"));
        assert_true(answer.length < 100);
        free(answer.body);
    }
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, agent_set_up, agent_tear_down)
    const struct CMUnitTest tests[] = {
        TEST(sends_every_byte_and_nothing),
        TEST(finds_names_of_all_kinds),
        TEST(refuses_what_is_no_file),
        TEST(sends_parts),
        TEST(tells_whether_a_copy_is_still_right),
        TEST(packs_when_asked),
        TEST(sends_files_that_say_they_are_empty),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
