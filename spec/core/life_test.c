/* life_test.c - sandboxes that are there: connect, list, calls of a box, kill; and clients. */
#include "box_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static void connect_leaves_the_life_alone_unless_asked(void **state) {
    struct connection *c = *state;
    assert_int_equal(server_count(c->server, "POST /v2/sandboxes/i123/connect "), 1);
    assert_int_equal(server_count(c->server, "\r\n\r\n{}"), 1);
    assert_false(sb_box_owns(c->box));
    sb_connect_options options = {.timeout = 59.5, .own = true};
    sb_box *box = connection_box(c, sb_connect(c->client, "i123", &options, &c->error));
    assert_int_equal(server_count(c->server, "\r\n\r\n{\"timeout\":60}"), 1);
    assert_int_equal(server_count(c->server, "PUT /sandboxes/i123/lease "), 1);
    assert_true(sb_box_owns(box));
    sb_box_free(box);
    server_add_reply(c->server, "POST /v2/sandboxes/i9/", "404 Not Found", "",
                     "{\"message\": \"no sandbox i9\"}");
    assert_null(connection_box(c, sb_connect(c->client, "i9", NULL, &c->error)));
    assert_int_equal(c->error.code, SB_NOT_FOUND);
    assert_string_equal(c->error.message, "connect: HTTP 404: no sandbox i9");
}

/* What the control plane does not find is this box's sandbox, unless it is the call itself. */
static void a_sandbox_that_is_gone_is_lost_to_its_box(void **state) {
    struct connection *c = *state;
    const char *gone = "{\"code\": 404, \"message\": \"sandbox \\\"i123\\\" not found\"}";
    const char *no_call = "{\"code\": 404, \"message\": \"no matching operation was found\"}";
    server_add_reply(c->server, "GET /sandboxes/i123 ", "404 Not Found", "", gone);
    assert_int_equal(connection_end(c, sb_box_info(c->box, &c->error)), SB_SANDBOX_LOST);
    server_add_reply(c->server, "POST /sandboxes/i123/timeout ", "404 Not Found", "", gone);
    assert_int_equal(connection_end(c, sb_box_set_timeout(c->box, 5, &c->error)), SB_SANDBOX_LOST);
    server_add_reply(c->server, "POST /sandboxes/i123/pause ", "404 Not Found", "", gone);
    assert_int_equal(connection_end(c, sb_box_pause(c->box, &c->error)), SB_SANDBOX_LOST);
    server_add_reply(c->server, "POST /sandboxes/i123/snapshots ", "404 Not Found", "", no_call);
    assert_int_equal(connection_end(c, sb_box_snapshot(c->box, NULL, &c->error)), SB_UNSUPPORTED);
    server_add_reply(c->server, "POST /sandboxes/i123/snapshots ", "507 Insufficient Storage", "",
                     "{\"code\": 507, \"message\": \"no room\"}");
    assert_int_equal(connection_end(c, sb_box_snapshot(c->box, NULL, &c->error)), SB_NO_SPACE);
    server_add_reply(c->server, "DELETE /sandboxes/i123 ", "404 Not Found", "", gone);
    assert_int_equal(connection_end(c, sb_box_kill(c->box, &c->error)), SB_NOT_FOUND);
}

static void a_paused_one_can_be_left_so(void **state) {
    struct connection *c = *state;
    int connected = server_count(c->server, "/connect ");
    server_add_reply(c->server, "GET /sandboxes/i7 ", "200 OK", "",
                     "{\"sandboxID\": \"i7\", \"envdVersion\": \"0.5.0\", \"domain\": null}");
    sb_connect_options options = {.leave_paused = true};
    sb_box *box = connection_box(c, sb_connect(c->client, "i7", &options, &c->error));
    assert_string_equal(sb_box_id(box), "i7");
    assert_false(sb_box_owns(box));
    assert_int_equal(server_count(c->server, "/connect "), connected);
    sb_box_free(box);
    options.timeout = 5;
    assert_null(sb_connect(c->client, "i7", &options, &c->error));
    assert_int_equal(c->error.code, SB_INVALID);
}

static void kill_tells_when_there_is_none(void **state) {
    struct connection *c = *state;
    assert_int_equal(connection_end(c, sb_kill(c->client, "i123", &c->error)), SB_OK);
    server_add_reply(c->server, "DELETE", "404 Not Found", "", "");
    assert_int_equal(connection_end(c, sb_kill(c->client, "i123", &c->error)), SB_NOT_FOUND);
    sb_box *box = create(c, NULL);
    sb_op *op = sb_box_kill(box, &c->error);
    sb_box_free(box); /* while the kill is under way: it stays the only one */
    assert_int_equal(connection_end(c, op), SB_OK);
    assert_int_equal(kills(c), 3);
}

static void lists_are_filtered_and_paged(void **state) {
    struct connection *c = *state;
    sb_pair metadata[] = {{"user", "a b"}, {"x&", "1=2"}};
    const char *states[] = {"running", "paused"};
    sb_list_options options = {.metadata = metadata,
                               .metadata_count = 2,
                               .states = states,
                               .state_count = 2,
                               .limit = 5,
                               .next_token = "a+b"};
    server_add_reply(c->server, "GET /v2/sandboxes?", "200 OK", "X-Next-Token: more=\r\n",
                     "[{\"sandboxID\": \"i1\", \"templateID\": \"t\", \"state\": \"running\", "
                     "\"startedAt\": \"2026-11-30T08:01:30Z\", \"cpuCount\": 2, \"alias\": null, "
                     "\"metadata\": {\"user\": \"a b\"}}, {\"sandboxID\": \"i2\"}]");
    sb_op *op = sb_list(c->client, &options, &c->error);
    assert_int_equal(sb_op_wait(op, &c->error), 0);
    assert_int_equal(sb_op_info_count(op), 2);
    const sb_info *info = sb_op_info(op, 0);
    assert_string_equal(info->id, "i1");
    assert_string_equal(info->state, "running");
    assert_null(info->alias);
    assert_int_equal(info->cpu_count, 2);
    assert_true(info->started_at == 1796025690.0);
    assert_string_equal(info->metadata[0].value, "a b");
    assert_string_equal(sb_op_next_token(op), "more=");
    assert_null(sb_op_info(op, 2));
    sb_op_free(op);
    assert_int_equal(server_count(c->server, "metadata=user%3Da%252520b%26x%252526%3D1%25253D2&"
                                             "state=running,paused&limit=5&nextToken=a%2Bb "),
                     1);
    op = sb_list(c->client, NULL, &c->error);
    assert_int_equal(sb_op_wait(op, &c->error), 0);
    assert_null(sb_op_next_token(op));
    sb_op_free(op);
    assert_int_equal(server_count(c->server, "GET /v2/sandboxes HTTP"), 1);
    server_add_reply(c->server, "GET /v2", "200 OK", "", "{\"no\": \"list\"}");
    assert_int_equal(connection_end(c, sb_list(c->client, NULL, &c->error)), SB_PROTOCOL);
}

static void calls_of_a_box_answer(void **state) {
    struct connection *c = *state;
    server_add_reply(c->server, "GET /sandboxes/i123 ", "200 OK", "",
                     "{\"sandboxID\": \"i123\", \"endAt\": \"1970-01-01T00:01:00Z\"}");
    sb_op *op = sb_box_info(c->box, &c->error);
    assert_int_equal(sb_op_wait(op, &c->error), 0);
    assert_true(sb_op_info(op, 0)->end_at == 60);
    sb_op_free(op);
    assert_int_equal(connection_end(c, sb_box_set_timeout(c->box, 0.5, &c->error)), SB_OK);
    assert_int_equal(server_count(c->server, "{\"timeout\":1}"), 1);
    op = sb_box_is_running(c->box, &c->error);
    assert_int_equal(sb_op_wait(op, &c->error), 0);
    assert_true(sb_op_flag(op));
    sb_op_free(op);
    server_add_reply(c->server, "GET /health", "502 Bad Gateway", "",
                     "{\"sandboxId\": \"i123\", \"message\": \"The sandbox was not found\"}");
    op = sb_box_is_running(c->box, &c->error);
    assert_int_equal(sb_op_wait(op, &c->error), 0);
    assert_false(sb_op_flag(op));
    sb_op_free(op);
}

static void clients_are_local_or_not(void **state) {
    struct connection *c = *state;
    const sb_client_options good = {.domain = "e2b.example"},
                            both = {.socket = "/tmp/x", .api_key = "k"},
                            url = {.api_url = "ftp://x"}, domain = {.domain = "a/b"},
                            key = {.api_key = "a\nb"};
    char long_path[200] = "/";
    memset(long_path + 1, 'x', 150);
    const sb_client_options too_long = {.socket = long_path};
    sb_client *client = sb_client_new(c->loop, NULL, &c->error);
    assert_true(sb_client_is_local(client));
    sb_client_free(client);
    client = sb_client_new(c->loop, &good, &c->error);
    assert_false(sb_client_is_local(client));
    sb_client_free(client);
    const sb_client_options *bad[] = {&both, &url, &domain, &key, &too_long};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_null(sb_client_new(c->loop, bad[i], &c->error));
        assert_int_equal(c->error.code, SB_INVALID);
    }
    setenv("E2B_API_KEY", "k", 1);
    client = sb_client_new(c->loop, NULL, &c->error);
    assert_false(sb_client_is_local(client));
    sb_client_free(client);
    const sb_client_options local = {.socket = "/tmp/x"};
    client = sb_client_new(c->loop, &local, &c->error);
    assert_true(sb_client_is_local(client));
    sb_client_free(client);
    unsetenv("E2B_API_KEY");
}

int main(void) {
    unset_variables();
    const struct CMUnitTest tests[] = {
        WITH(connect_leaves_the_life_alone_unless_asked),
        WITH(a_sandbox_that_is_gone_is_lost_to_its_box),
        WITH(a_paused_one_can_be_left_so),
        WITH(kill_tells_when_there_is_none),
        WITH(lists_are_filtered_and_paged),
        WITH(calls_of_a_box_answer),
        WITH(clients_are_local_or_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
