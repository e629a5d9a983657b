/* Contexts and languages: made, listed, restarted, removed, interrupted, and told of by servers
 * that do not keep to the protocol. */
#include "connection.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#define CREATE "POST /contexts "
#define LIST "GET /contexts "
#define LANGUAGES "GET /contexts/languages "

static void a_context_is_made_with_what_is_given_and_nothing_else(void **state) {
    struct connection *c = *state;
    sb_pair envs[] = {{"A", "it's \"so\"\n"}};
    sb_context_options options = {
        .language = "js", .cwd = "/tmp/a b", .envs = envs, .env_count = 1};
    server_add_reply(c->server, CREATE, "200 OK", "",
                     "{\"id\":\"c1\",\"language\":\"javascript\",\"cwd\":\"/tmp/a b\",\"new\":1}");
    sb_op *op = sb_box_new_context(c->box, &options, &c->error);
    assert_null(sb_op_context(op, 0));
    assert_int_equal(sb_op_wait(op, &c->error), 0);
    assert_int_equal(sb_op_context_count(op), 1);
    assert_string_equal(sb_op_context(op, 0)->id, "c1");
    assert_string_equal(sb_op_context(op, 0)->language, "javascript");
    assert_string_equal(sb_op_context(op, 0)->cwd, "/tmp/a b");
    assert_null(sb_op_context(op, 1));
    assert_int_equal(sb_op_language_count(op), 0);
    sb_op_free(op);
    assert_int_equal(server_count(c->server,
                                  "{\"language\":\"js\",\"cwd\":\"/tmp/a b\",\"env_vars\":"
                                  "{\"A\":\"it's \\\"so\\\"\\n\"}}"),
                     1);
    assert_int_equal(server_count(c->server, "Host: 49999-i123.stepbox"), 1);
    server_add_reply(c->server, CREATE, "200 OK", "", "{\"id\":\"c2\"}");
    op = sb_box_new_context(c->box, NULL, &c->error);
    assert_int_equal(sb_op_wait(op, &c->error), 0);
    assert_null(sb_op_context(op, 0)->language);
    sb_op_free(op);
    assert_int_equal(server_count(c->server, "\r\n\r\n{}"), 2); /* with that of connect */
}

static void bad_options_are_refused(void **state) {
    struct connection *c = *state;
    sb_pair bad[] = {{"", "x"}};
    const sb_context_options options[] = {
        {.language = "\xff"}, {.cwd = "\xc3"}, {.envs = bad, .env_count = 1}};
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        assert_null(sb_box_new_context(c->box, &options[i], &c->error));
        assert_int_equal(c->error.code, SB_INVALID);
    }
    const char *const ids[] = {NULL, ""};
    for (size_t i = 0; i < 2; i++) {
        assert_null(sb_box_restart_context(c->box, ids[i], &c->error));
        assert_null(sb_box_remove_context(c->box, ids[i], &c->error));
        assert_int_equal(c->error.code, SB_INVALID);
    }
    const char *const paths[] = {".", ".."};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        assert_null(sb_box_restart_context(c->box, paths[i], &c->error));
        assert_int_equal(c->error.code, SB_NOT_FOUND);
        assert_null(sb_box_remove_context(c->box, paths[i], &c->error));
        assert_int_equal(c->error.code, SB_NOT_FOUND);
        assert_null(sb_box_interrupt(c->box, paths[i], &c->error));
        assert_int_equal(c->error.code, SB_NOT_FOUND);
        assert_string_equal(c->error.message, "interrupt: no context has such an id");
    }
    char huge[5000];
    memset(huge, 'x', sizeof huge - 1);
    huge[sizeof huge - 1] = '\0';
    assert_null(sb_box_restart_context(c->box, huge, &c->error));
    assert_int_equal(c->error.code, SB_INVALID);
    assert_int_equal(server_count(c->server, "/contexts"), 0);
}

/* A service of E2B's swallows what it does not know: variables would be lost without a word. */
static void other_servers_are_given_no_variables_of_contexts(void **state) {
    struct connection *c = *state;
    sb_pair envs[] = {{"A", "1"}};
    sb_context_options options = {.envs = envs, .env_count = 1};
    assert_null(sb_box_new_context(c->box, &options, &c->error));
    assert_int_equal(c->error.code, SB_UNSUPPORTED);
    assert_int_equal(server_count(c->server, CREATE), 0);
    options.env_count = 0;
    server_add_reply(c->server, CREATE, "200 OK", "", "{\"id\":\"c1\"}");
    assert_int_equal(connection_end(c, sb_box_new_context(c->box, &options, &c->error)), SB_OK);
}

static void a_context_that_cannot_be_made_says_why(void **state) {
    struct connection *c = *state;
    static const struct {
        const char *status, *body;
        sb_code code;
        const char *message;
    } cases[] = {
        {"500 Internal Server Error",
         "Failed to create context: {\"message\": \"no cobol\", \"short_message\": \"x\"}",
         SB_UNSUPPORTED, "context: no cobol"},
        {"400 Bad Request", "Failed to create context: install nodejs", SB_UNSUPPORTED,
         "context: install nodejs"},
        {"400 Bad Request", "Failed to create context: {\"message\": 5}", SB_UNSUPPORTED,
         "context: {\"message\": 5}"},
        {"400 Bad Request", "Failed to create context", SB_UNSUPPORTED,
         "context: Failed to create context"},
        {"503 Service Unavailable", "Failed to create context: out of memory", SB_UNAVAILABLE,
         "context: HTTP 503: Failed to create context: out of memory"},
        {"429 Too Many Requests", "There are too many contexts", SB_RATE_LIMITED,
         "context: HTTP 429: There are too many contexts"},
        {"200 OK", "", SB_PROTOCOL, NULL},
        {"200 OK", "[]", SB_PROTOCOL, NULL},
        {"200 OK", "[{\"id\":\"a\"}]", SB_PROTOCOL, NULL},
        {"200 OK", "\"c1\"", SB_PROTOCOL, NULL},
        {"200 OK", "{\"id\":7}", SB_PROTOCOL, NULL},
        {"200 OK", "{\"id\":\"\"}", SB_PROTOCOL, NULL},
        {"200 OK", "{\"id\":\"a\\u0000b\"}", SB_PROTOCOL, NULL},
        {"200 OK", "{\"id\":\"a\"", SB_PROTOCOL, NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        server_add_reply(c->server, CREATE, cases[i].status, "", cases[i].body);
        sb_op *op = sb_box_new_context(c->box, NULL, &c->error);
        assert_int_equal(sb_op_wait(op, &c->error), -1);
        assert_string_equal(sb_code_name(c->error.code), sb_code_name(cases[i].code));
        if (cases[i].message != NULL) {
            assert_string_equal(c->error.message, cases[i].message);
        }
        assert_int_equal(sb_op_context_count(op), 0);
        assert_null(sb_op_context(op, 0));
        sb_op_free(op);
    }
    /* It is not asked for twice: there might be two then. */
    server_add(c->server, CREATE, "", ANSWER_RESET);
    assert_int_not_equal(connection_end(c, sb_box_new_context(c->box, NULL, &c->error)), SB_OK);
    assert_int_equal(server_count(c->server, CREATE), sizeof cases / sizeof *cases + 1);
}

static void contexts_are_listed(void **state) {
    struct connection *c = *state;
    server_add_reply(c->server, LIST, "200 OK", "",
                     "[{\"id\":\"a\",\"language\":\"python\",\"cwd\":\"/\"},{\"id\":\"b\"}]");
    sb_op *op = sb_box_contexts(c->box, &c->error);
    assert_int_equal(sb_op_wait(op, &c->error), 0);
    assert_int_equal(sb_op_context_count(op), 2);
    assert_string_equal(sb_op_context(op, 0)->language, "python");
    assert_string_equal(sb_op_context(op, 1)->id, "b");
    sb_op_free(op);
    server_add_reply(c->server, LIST, "200 OK", "", "[]");
    op = sb_box_contexts(c->box, &c->error);
    assert_int_equal(sb_op_wait(op, &c->error), 0);
    assert_int_equal(sb_op_context_count(op), 0);
    sb_op_free(op);
    const char *const bad[] = {"{}", "[1]", "[{}]", "[{\"id\":\"a\"},{\"id\":null}]", "<html>"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        server_add_reply(c->server, LIST, "200 OK", "", bad[i]);
        assert_int_equal(connection_end(c, sb_box_contexts(c->box, &c->error)), SB_PROTOCOL);
    }
}

static void languages_are_told(void **state) {
    struct connection *c = *state;
    server_add_reply(
        c->server, LANGUAGES, "200 OK", "",
        "[{\"name\":\"javascript\",\"aliases\":[\"js\",5,\"node\"],\"available\":true},"
        "{\"name\":\"r\",\"available\":false,\"message\":\"install r-base-core\"},"
        "{\"name\":\"x\",\"available\":\"yes\"}]");
    sb_op *op = sb_box_languages(c->box, &c->error);
    assert_null(sb_op_language(op, 0));
    assert_int_equal(sb_op_wait(op, &c->error), 0);
    assert_int_equal(sb_op_language_count(op), 3);
    const sb_language *language = sb_op_language(op, 0);
    assert_string_equal(language->name, "javascript");
    assert_int_equal(language->alias_count, 2);
    assert_string_equal(language->aliases[1], "node");
    assert_true(language->available);
    assert_null(language->message);
    language = sb_op_language(op, 1);
    assert_false(language->available);
    assert_int_equal(language->alias_count, 0);
    assert_string_equal(language->message, "install r-base-core");
    assert_false(sb_op_language(op, 2)->available);
    assert_null(sb_op_language(op, 3));
    assert_int_equal(sb_op_context_count(op), 0);
    sb_op_free(op);
    const char *const bad[] = {"{}", "[1]", "[{\"name\":\"a\",\"aliases\":[\"b\"]},{}]", "null"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        server_add_reply(c->server, LANGUAGES, "200 OK", "", bad[i]);
        assert_int_equal(connection_end(c, sb_box_languages(c->box, &c->error)), SB_PROTOCOL);
    }
    const char *const statuses[] = {"404 Not Found", "405 Method Not Allowed"};
    for (size_t i = 0; i < 2; i++) {
        server_add_reply(c->server, LANGUAGES, statuses[i], "", "{\"detail\":\"x\"}");
        assert_int_equal(connection_end(c, sb_box_languages(c->box, &c->error)), SB_UNSUPPORTED);
        assert_string_equal(c->error.message, "languages: this server does not tell its languages");
    }
}

static void a_context_is_restarted_and_removed_by_its_id(void **state) {
    struct connection *c = *state;
    server_add_reply(c->server, "POST /contexts/a%2F..%2Fb/restart ", "200 OK", "", "null");
    assert_int_equal(connection_end(c, sb_box_restart_context(c->box, "a/../b", &c->error)), SB_OK);
    server_add_reply(c->server, "DELETE /contexts/a%3Fx ", "200 OK", "", "null");
    assert_int_equal(connection_end(c, sb_box_remove_context(c->box, "a?x", &c->error)), SB_OK);
    assert_int_equal(server_count(c->server, "application/x-www-form-urlencoded"), 0);
    server_add_reply(c->server, "POST /contexts/", "404 Not Found", "", "Context a not found");
    assert_int_equal(connection_end(c, sb_box_restart_context(c->box, "a", &c->error)),
                     SB_NOT_FOUND);
    assert_string_equal(c->error.message, "restart context: HTTP 404: Context a not found");
    server_add_reply(c->server, "DELETE /contexts/", "404 Not Found", "", "Context a not found");
    assert_int_equal(connection_end(c, sb_box_remove_context(c->box, "a", &c->error)),
                     SB_NOT_FOUND);
}

static void an_interrupt_says_whether_something_ran(void **state) {
    struct connection *c = *state;
    server_add_reply(c->server, "POST /contexts/default/interrupt ", "200 OK", "",
                     "{\"interrupted\": true}");
    sb_op *op = sb_box_interrupt(c->box, NULL, &c->error);
    assert_int_equal(sb_op_wait(op, &c->error), 0);
    assert_true(sb_op_flag(op));
    sb_op_free(op);
    server_add_reply(c->server, "POST /contexts/a%2Fb/interrupt ", "404 Not Found", "",
                     "Context a/b not found");
    assert_int_equal(connection_end(c, sb_box_interrupt(c->box, "a/b", &c->error)), SB_NOT_FOUND);
    server_add_reply(c->server, "POST /contexts/", "404 Not Found", "",
                     "{\"detail\":\"Not Found\"}");
    assert_int_equal(connection_end(c, sb_box_interrupt(c->box, "a", &c->error)), SB_UNSUPPORTED);
    server_add_reply(c->server, "POST /contexts/", "405 Method Not Allowed", "", "");
    assert_int_equal(connection_end(c, sb_box_interrupt(c->box, "a", &c->error)), SB_UNSUPPORTED);
}

/* All that a box can be asked about contexts, when it is closed. */
static void a_closed_box_has_no_contexts(void **state) {
    struct connection *c = *state;
    assert_int_equal(connection_end(c, sb_box_kill(c->box, &c->error)), SB_OK);
    assert_int_equal(connection_end(c, sb_box_new_context(c->box, NULL, &c->error)), SB_CLOSED);
    assert_int_equal(connection_end(c, sb_box_contexts(c->box, &c->error)), SB_CLOSED);
    assert_int_equal(connection_end(c, sb_box_languages(c->box, &c->error)), SB_CLOSED);
    assert_int_equal(connection_end(c, sb_box_restart_context(c->box, "a", &c->error)), SB_CLOSED);
    assert_int_equal(connection_end(c, sb_box_remove_context(c->box, "a", &c->error)), SB_CLOSED);
    assert_int_equal(connection_end(c, sb_box_interrupt(c->box, "a", &c->error)), SB_CLOSED);
    assert_int_equal(server_count(c->server, "/contexts"), 0);
}

static void calls_may_be_cancelled_and_freed_at_any_moment(void **state) {
    struct connection *c = *state;
    server_add(c->server, CREATE, "", ANSWER_HOLD);
    sb_op *op = sb_box_new_context(c->box, NULL, &c->error);
    while (server_count(c->server, CREATE) == 0) {
        sb_loop_step(c->loop, 0.01, NULL);
    }
    sb_op_cancel(op);
    assert_int_equal(sb_op_error(op, NULL), SB_CANCELLED);
    assert_int_equal(sb_op_context_count(op), 0);
    sb_op_free(op);
    sb_op_free(sb_box_contexts(c->box, &c->error));
    sb_op_free(sb_box_languages(c->box, &c->error));
    sb_op_free(sb_box_remove_context(c->box, "a", &c->error));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        WITH(a_context_is_made_with_what_is_given_and_nothing_else),
        WITH(bad_options_are_refused),
        WITH_TCP(other_servers_are_given_no_variables_of_contexts),
        WITH(a_context_that_cannot_be_made_says_why),
        WITH(contexts_are_listed),
        WITH(languages_are_told),
        WITH(a_context_is_restarted_and_removed_by_its_id),
        WITH(an_interrupt_says_whether_something_ran),
        WITH(a_closed_box_has_no_contexts),
        WITH(calls_may_be_cancelled_and_freed_at_any_moment),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
