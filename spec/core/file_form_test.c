/* Writing files to servers from before 0.5.7, which take forms alone. */
#include "connection.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>

#define FILES "POST /files"
#define ENTRY "[{\"path\":\"/home/user/x\",\"name\":\"x\",\"type\":\"file\"}]"

/* The box of the connection is of version 0.1.3, and far away. */
static void the_content_is_the_one_part_of_a_form(void **state) {
    struct connection *c = *state;
    sb_write_options options = {.bytes = "a\r\nb", .length = 4};
    server_add_reply(c->server, FILES, "200 OK", "", ENTRY);
    assert_int_equal(connection_end(c, sb_file_write(c->box, "/x", &options, &c->error)), SB_OK);
    assert_true(server_saw(c->server, FILES));
    const char *request = c->server->requests[c->server->request_count - 1];
    const char *type = strstr(request, "Content-Type: multipart/form-data; boundary=");
    assert_non_null(type);
    const char *boundary = strchr(type, '=') + 1;
    size_t length = strcspn(boundary, "\r");
    char expected[600];
    snprintf(
        expected, sizeof expected,
        "\r\n\r\n--%.*s\r\nContent-Disposition: form-data; name=\"file\"; filename=\"file\"\r\n"
        "Content-Type: application/octet-stream\r\n\r\na\r\nb\r\n--%.*s--\r\n",
        (int)length, boundary, (int)length, boundary);
    assert_non_null(strstr(request, expected));
    assert_non_null(strstr(request, "POST /files?path=%2Fx&username=user HTTP"));
}

static void an_empty_file_is_one_too(void **state) {
    struct connection *c = *state;
    server_add_reply(c->server, FILES, "200 OK", "", ENTRY);
    assert_int_equal(connection_end(c, sb_file_write(c->box, "/x", NULL, &c->error)), SB_OK);
    assert_int_equal(server_count(c->server, "octet-stream\r\n\r\n\r\n--stepbox-"), 1);
}

static void metadata_is_not_dropped_silently(void **state) {
    struct connection *c = *state;
    sb_pair pair = {"a", "b"};
    sb_write_options options = {.metadata = &pair, .metadata_count = 1};
    assert_null(sb_file_write(c->box, "/x", &options, &c->error));
    assert_int_equal(c->error.code, SB_UNSUPPORTED);
}

#define TEST(name)                                                                                 \
    cmocka_unit_test_setup_teardown(name, connection_set_up_tcp, connection_tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(the_content_is_the_one_part_of_a_form),
        TEST(an_empty_file_is_one_too),
        TEST(metadata_is_not_dropped_silently),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
