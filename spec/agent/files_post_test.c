/* files_post_test.c - POST /files. */
#include "files_fixture.h"

#include <sys/mount.h>
#include <sys/xattr.h>
#include <zlib.h>

static struct answer upload(const char *path, const char *headers, const char *bytes,
                            size_t length) {
    return ask("POST", path, headers, bytes, length);
}

/* Fails unless the answer lists the files of these names, which end with NULL. */
static void expect_written(struct answer answer, const char *const *names) {
    char path[4300];
    json_t *list = json_loadb(answer.body, answer.length, 0, NULL);
    if (answer.status != 200 || !json_is_array(list))
        fail_msg("%d %s", answer.status, answer.body);
    assert_true(head_has(&answer, "Content-Type: application/json"));
    size_t count = 0;
    for (; names[count]; count++) {
        json_t *entry = json_array_get(list, count);
        const char *slash = strrchr(names[count], '/');
        in_directory(path, sizeof path, names[count]);
        assert_string_equal(json_string_value(json_object_get(entry, "path")), path);
        assert_string_equal(json_string_value(json_object_get(entry, "name")),
                            slash ? slash + 1 : names[count]);
        assert_string_equal(json_string_value(json_object_get(entry, "type")), "file");
    }
    assert_int_equal(json_array_size(list), count);
    json_decref(list);
    free(answer.body);
}

static void expect_one_written(struct answer answer, const char *name) {
    expect_written(answer, (const char *[]){name, NULL});
}

static void writes_every_byte_and_nothing(void **state) {
    (void)state;
    char bytes[512], path[200];
    struct stat info;
    for (int i = 0; i < 512; i++)
        bytes[i] = (char)i;
    expect_one_written(upload("/files?path=new/dir/all", OCTETS, bytes, sizeof bytes),
                       "new/dir/all");
    expect_file("new/dir/all", bytes, sizeof bytes);
    expect_one_written(upload("/files?path=new/dir/all", OCTETS, "short", 5), "new/dir/all");
    expect_file("new/dir/all", "short", 5);
    expect_one_written(
        upload("/files?path=~/empty&username=user",
               "Content-Type: Application/Octet-Stream; x=y\r\nAuthorization: Basic dXNlcjo=\r\n",
               "", 0),
        "empty");
    expect_file("empty", "", 0);
    in_directory(path, sizeof path, "empty");
    assert_int_equal(stat(path, &info), 0);
    mode_t mask = umask(0);
    umask(mask);
    assert_int_equal(info.st_mode & 0777, 0666 & ~mask);

    struct client *client = connect_envd(&from_client);
    send_text(client, "POST /files?path=chunked HTTP/1.1\r\nHost: h\r\n" OCTETS
                      "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n");
    expect_one_written(read_answer(client, false), "chunked");
    expect_file("chunked", "abcde", 5);
    /* What follows on the connection is served too. */
    request(client, "GET", "/files?path=chunked", "", "", 0);
    expect_body(read_answer(client, false), 200, "abcde", 5);
    disconnect(client);
}

static void writes_names_of_all_kinds(void **state) {
    (void)state;
    static const struct {
        const char *escaped, *name;
    } names[] = {{"a%20b", "a b"},
                 {"new%0Aline", "new\nline"},
                 {"q%22uo'te%5C", "q\"uo'te\\"},
                 {"%F0%9F%8E%89/x", "\xf0\x9f\x8e\x89/x"},
                 {"100%25", "100%"},
                 {"%2B", "+"}};
    char target[200];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(target, sizeof target, "/files?path=%s", names[i].escaped);
        expect_one_written(upload(target, OCTETS, "x", 1), names[i].name);
        expect_file(names[i].name, "x", 1);
    }
    struct answer answer = upload("/files?path=%FF", OCTETS, "x", 1);
    assert_int_equal(answer.status, 200);
    free(answer.body);
    expect_file("\xff", "x", 1);
}

static void follows_links_and_keeps_the_file(void **state) {
    (void)state;
    char path[200];
    write_file("target", "old contents");
    in_directory(path, sizeof path, "link");
    assert_int_equal(symlink("target", path), 0);
    in_directory(path, sizeof path, "dangling");
    assert_int_equal(symlink("made", path), 0);
    expect_one_written(upload("/files?path=link", OCTETS, "new", 3), "link");
    expect_file("target", "new", 3);
    expect_one_written(upload("/files?path=dangling", OCTETS, "new", 3), "dangling");
    expect_file("made", "new", 3);
    in_directory(path, sizeof path, "link");
    struct stat info;
    assert_int_equal(lstat(path, &info), 0);
    assert_true(S_ISLNK(info.st_mode));
}

static void refuses_what_cannot_be_written(void **state) {
    (void)state;
    char path[200], target[400];
    write_file("file", "kept");
    in_directory(path, sizeof path, "dir");
    mkdir(path, 0755);
    in_directory(path, sizeof path, "fifo");
    mkfifo(path, 0644);
    expect_error(upload("/files?path=dir", OCTETS, "x", 1), 400, "path is a directory: ");
    snprintf(target, sizeof target, "/files?path=%s/new/", directory);
    expect_error(upload(target, OCTETS, "x", 1), 400, "path is a directory: ");
    expect_error(upload("/files?path=", OCTETS, "x", 1), 400, "path is a directory: ");
    expect_error(upload("/files", OCTETS, "x", 1), 400, "path is missing");
    expect_error(upload("/files?path=file/x", OCTETS, "x", 1), 400, "not a directory");
    expect_error(upload("/files?path=fifo", OCTETS, "x", 1), 400, "is not a regular file");
    expect_error(upload("/files?path=/dev/null", OCTETS, "x", 1), 400, "is not a regular file");
    snprintf(target, sizeof target, "/files?path=%0300d", 1);
    expect_error(upload(target, OCTETS, "x", 1), 400, "too long");
    expect_error(upload("/files?path=file&username=nobody-else", OCTETS, "x", 1), 401, "user");
    expect_error(upload("/files?path=file", "", "x", 1), 400, "content type");
    expect_error(upload("/files?path=file", "Content-Type: text/plain\r\n", "x", 1), 400,
                 "content type");
    expect_error(upload("/files?path=file", OCTETS "Content-Encoding: br\r\n", "x", 1), 400,
                 "Content-Encoding 'br' is not known");
    expect_error(upload("/files?path=file", OCTETS "X-Metadata-a: \xff\r\n", "x", 1), 400,
                 "printable ASCII");
    expect_file("file", "kept", 4);
    assert_false(exists("new"));
}

static void keeps_metadata(void **state) {
    (void)state;
    char path[200], value[100] = "";
    write_file("probe", "");
    in_directory(path, sizeof path, "probe");
    if (setxattr(path, "user.probe", "x", 1, 0)) {
        print_message("    the file system there keeps none\n");
        expect_error(upload("/files?path=f", OCTETS "X-Metadata-A: 1\r\n", "x", 1), 400, "keep");
        assert_false(exists("f"));
        return;
    }
    struct answer answer =
        upload("/files?path=f",
               OCTETS "X-Metadata-Author: me & you\r\nx-metadata-AUTHOR: not me\r\n"
                      "X-Metadata-: nothing\r\nX-Metadata-B: 2\r\n",
               "x", 1);
    json_t *list = json_loadb(answer.body, answer.length, 0, NULL);
    json_t *expected = json_pack("{s:s, s:s}", "author", "me & you", "b", "2");
    assert_true(json_equal(json_object_get(json_array_get(list, 0), "metadata"), expected));
    json_decref(expected);
    json_decref(list);
    free(answer.body);
    in_directory(path, sizeof path, "f");
    assert_int_equal(getxattr(path, "user.e2b.author", value, sizeof value), 8);
    assert_string_equal(value, "me & you");
    /* An upload without metadata clears it. */
    answer = upload("/files?path=f", OCTETS, "x", 1);
    assert_null(strstr(answer.body, "metadata"));
    free(answer.body);
    assert_int_equal(getxattr(path, "user.e2b.author", value, sizeof value), -1);
}

static void answers_a_refusal_before_the_body_is_sent(void **state) {
    (void)state;
    struct client *client = connect_envd(&from_client);
    send_text(client, "POST /files?path=/ HTTP/1.1\r\nHost: h\r\n" OCTETS
                      "Content-Length: 1000000000\r\nExpect: 100-continue\r\n\r\n");
    expect_error(read_answer(client, false), 400, "path is a directory");
    disconnect(client);
}

static void refuses_more_than_there_is_room_for(void **state) {
    (void)state;
    struct client *client = connect_envd(&from_client);
    write_file("old", "kept");
    for (int i = 0; i < 2; i++) {
        char text[300];
        snprintf(text, sizeof text,
                 "POST /files?path=%s HTTP/1.1\r\nHost: h\r\n" OCTETS
                 "Content-Length: 9000000000000000000\r\nExpect: 100-continue\r\n\r\n",
                 i ? "old" : "new/file");
        send_text(client, text);
        expect_error(read_answer(client, false), 507, "not enough disk space available");
        disconnect(client);
        client = connect_envd(&from_client);
    }
    assert_false(exists("new/file"));
    expect_file("old", "kept", 4);
    disconnect(client);
}

/* Needs a file system of its own. */
static void removes_what_it_made_when_the_space_ends(void **state) {
    (void)state;
    char path[200];
    in_directory(path, sizeof path, "small");
    mkdir(path, 0755);
    if (mount("none", path, "tmpfs", 0, "size=1m")) {
        print_message("    cannot mount: skipped\n");
        return;
    }
    static char block[100000];
    write_file("small/old", "old contents");
    for (int i = 0; i < 2; i++) {
        struct client *client = connect_envd(&from_client);
        char text[300];
        snprintf(text, sizeof text,
                 "POST /files?path=small/%s HTTP/1.1\r\nHost: h\r\n" OCTETS
                 "Transfer-Encoding: chunked\r\n\r\n",
                 i ? "old" : "new");
        send_text(client, text);
        for (int j = 0; j < 20; j++) {
            send_text(client, "186a0\r\n");
            send_bytes(client, block, sizeof block);
            send_text(client, "\r\n");
        }
        send_text(client, "0\r\n\r\n");
        expect_error(read_answer(client, false), 507, "not enough disk space available");
        /* The connection goes on. */
        request(client, "GET", "/files?path=small/none", "", "", 0);
        expect_error(read_answer(client, false), 404, "does not exist");
        disconnect(client);
    }
    assert_false(exists("small/new"));
    assert_true(exists("small/old"));
    assert_int_equal(umount(path), 0);
}

static void gives_up_a_file_whose_client_left(void **state) {
    (void)state;
    struct client *client = connect_envd(&from_client);
    send_text(client, "POST /files?path=new HTTP/1.1\r\nHost: h\r\n" OCTETS
                      "Content-Length: 100\r\n\r\nbeginning");
    size_t length;
    char *bytes = NULL;
    for (double start = now(); !bytes || length < 9; usleep(1000)) {
        free(bytes);
        bytes = file_bytes("new", &length);
        assert_true(now() < start + 5);
    }
    free(bytes);
    disconnect(client);
    for (double start = now(); exists("new"); usleep(1000))
        assert_true(now() < start + 1);
}

static size_t pack(const char *bytes, size_t length, char *to, size_t size) {
    z_stream stream = {.next_in = (unsigned char *)bytes,
                       .avail_in = (unsigned)length,
                       .next_out = (unsigned char *)to,
                       .avail_out = (unsigned)size};
    assert_int_equal(deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
    deflateEnd(&stream);
    return size - stream.avail_out;
}

static void unpacks_gzip(void **state) {
    (void)state;
    static char bytes[20000000], packed[200000];
    memset(bytes, 'y', sizeof bytes);
    size_t length = pack(bytes, sizeof bytes, packed, sizeof packed);
    expect_one_written(upload("/files?path=f", OCTETS "Content-Encoding: gzip\r\n", packed, length),
                       "f");
    expect_file("f", bytes, sizeof bytes);
    /* What is cut or is no gzip leaves no file. */
    for (size_t cut = 0; cut < length; cut += length / 5) {
        expect_error(upload("/files?path=cut", OCTETS "Content-Encoding: gzip\r\n", packed, cut),
                     400, "gzip");
        assert_false(exists("cut"));
    }
    expect_error(upload("/files?path=cut", OCTETS "Content-Encoding: gzip\r\n", "plain", 5), 400,
                 "not valid gzip");
    packed[length / 2] ^= 1;
    expect_error(upload("/files?path=cut", OCTETS "Content-Encoding: gzip\r\n", packed, length),
                 400, "gzip");
    assert_false(exists("cut"));
}

#define MULTIPART "Content-Type: multipart/form-data; boundary=b\r\n"
#define PART(name)                                                                                 \
    "--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"" name "\"\r\n\r\n"

static void writes_the_files_of_a_form(void **state) {
    (void)state;
    char path[300], body[1000], packed[1000];
    in_directory(path, sizeof path, "abs");
    int length =
        snprintf(body, sizeof body,
                 PART("one") "1\r\n" PART(
                     "dir/two \xf0\x9f\x8e\x89") "\r\n"
                                                 "--b\r\nContent-Disposition: form-data; "
                                                 "name=other\r\n\r\nx\r\n"
                                                 "--b\r\nContent-Disposition: form-data; "
                                                 "filename=\"%s\"; name=\"file\"\r\n"
                                                 "Content-Type: text/plain\r\n\r\n3%c\r\n--b--\r\n",
                 path, 0);
    for (int gzip = 0; gzip < 2; gzip++) {
        size_t size = gzip ? pack(body, (size_t)length, packed, sizeof packed) : (size_t)length;
        expect_written(upload("/files", gzip ? MULTIPART "Content-Encoding: gzip\r\n" : MULTIPART,
                              gzip ? packed : body, size),
                       (const char *[]){"one", "dir/two \xf0\x9f\x8e\x89", "abs", NULL});
        expect_file("one", "1", 1);
        expect_file("dir/two \xf0\x9f\x8e\x89", "", 0);
        expect_file("abs", "3\0", 2);
    }
    /* The path of the query comes before a part's name. */
    const char *single = PART("ignored") "x\r\n--b--";
    expect_one_written(upload("/files?path=named", MULTIPART, single, strlen(single)), "named");
    assert_false(exists("ignored"));
    expect_written(upload("/files", MULTIPART, "--b--", 5), (const char *[]){NULL});
    /* As E2B's server takes it. */
    const char *escaped = PART("a%22b") "x\r\n--b--";
    expect_one_written(upload("/files", MULTIPART, escaped, strlen(escaped)), "a%22b");
}

static void refuses_forms_that_are_wrong(void **state) {
    (void)state;
    static const struct {
        const char *body, *fault;
    } cases[] = {
        {PART("a") "1\r\n" PART("./a") "2\r\n--b--", "several files for path"},
        {PART("x") "1", "ends before its end"},
        {"--b\r\nContent-Disposition: form-data; name=\"file\"\r\n\r\n\r\n--b--", "has no name"},
        {PART("/") "1\r\n--b--", "is a directory"},
        {"--b\r\nContent-Disposition: form-data; name=\"file\r\n\r\n\r\n--b--", "malformed"},
        {"--b\r\nContent-Disposition: form-data; name=file; filename*=UTF-8''%00\r\n\r\n\r\n--b--",
         "NUL"},
        {PART("~them/x") "1\r\n--b--", "home"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        expect_error(upload("/files", MULTIPART, cases[i].body, strlen(cases[i].body)), 400,
                     cases[i].fault);
    expect_file("a", "1", 1); /* the first of the two */
    assert_false(exists("x"));
    expect_error(upload("/files", "Content-Type: multipart/form-data\r\n", "", 0), 400, "boundary");
}

static void bounds_how_many_files_a_form_has(void **state) {
    (void)state;
    enum { MOST = 20000, PART_SIZE = sizeof PART("many/00000") "\r\n" };
    char *body = malloc((MOST + 1) * PART_SIZE + 10), *to = body;
    for (int i = 0; i < MOST; i++)
        to += sprintf(to, PART("many/%05d") "\r\n", i);
    size_t most = (size_t)(to - body);
    sprintf(to, PART("many/more") "\r\n--b--");
    expect_error(upload("/files", MULTIPART, body, strlen(body)), 400, "more than 20000 files");
    assert_true(exists("many/19999"));
    assert_false(exists("many/more"));
    strcpy(body + most, "--b--");
    struct answer answer = upload("/files", MULTIPART, body, most + 5);
    assert_int_equal(answer.status, 200);
    free(answer.body);
    free(body);
}

static void makes_the_same_parents_for_many_at_once(void **state) {
    (void)state;
    struct client *clients[50];
    for (int i = 0; i < 50; i++) {
        char text[200];
        clients[i] = connect_envd(&from_client);
        snprintf(text, sizeof text,
                 "POST /files?path=a/b/c/d%%20e/%d HTTP/1.1\r\nHost: h\r\n" OCTETS
                 "Content-Length: 2\r\n\r\n",
                 i);
        send_text(clients[i], text);
    }
    for (int i = 0; i < 50; i++)
        send_text(clients[i], "ok");
    for (int i = 0; i < 50; i++) {
        char name[40];
        snprintf(name, sizeof name, "a/b/c/d e/%d", i);
        expect_one_written(read_answer(clients[i], false), name);
        expect_file(name, "ok", 2);
        disconnect(clients[i]);
    }
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, agent_set_up, agent_tear_down)
    const struct CMUnitTest tests[] = {
        TEST(writes_every_byte_and_nothing),
        TEST(writes_names_of_all_kinds),
        TEST(follows_links_and_keeps_the_file),
        TEST(refuses_what_cannot_be_written),
        TEST(keeps_metadata),
        TEST(answers_a_refusal_before_the_body_is_sent),
        TEST(refuses_more_than_there_is_room_for),
        TEST(removes_what_it_made_when_the_space_ends),
        TEST(gives_up_a_file_whose_client_left),
        TEST(unpacks_gzip),
        TEST(writes_the_files_of_a_form),
        TEST(refuses_forms_that_are_wrong),
        TEST(bounds_how_many_files_a_form_has),
        TEST(makes_the_same_parents_for_many_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
