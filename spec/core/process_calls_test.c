/* The unary calls about processes: what is sent, what answers mean, and the errors of the protocol.
 */
#include "connection.h"
#include "rpc.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <cmocka.h>

#define LIST "POST /process.Process/List"
#define SEND "POST /process.Process/SendInput"
#define CLOSE "POST /process.Process/CloseStdin"
#define SIGNAL "POST /process.Process/SendSignal"
#define UPDATE "POST /process.Process/Update"
#define OK_STATUS "200 OK"
#define JSON "Content-Type: application/json\r\n"

static const sb_process seven = {.pid = 7};

static sb_op *list(struct connection *c, const char *answer) {
    server_add_reply(c->server, LIST, OK_STATUS, JSON, answer);
    sb_op *op = sb_process_list(c->box, &c->error);
    c->error = (sb_error){0};
    sb_op_wait(op, &c->error);
    return op;
}

static void a_list_gives_what_the_server_says(void **state) {
    struct connection *c = *state;
    sb_op *op = list(c, "{\"processes\":[{\"config\":{\"cmd\":\"/bin/bash\",\"args\":[\"-l\",\"\"],"
                        "\"envs\":{\"A\":\"1\"},\"cwd\":\"/tmp\"},\"pid\":7,\"tag\":\"t\"},"
                        "{\"pid\":8,\"config\":{}}]}");
    assert_int_equal(c->error.code, SB_OK);
    assert_int_equal(sb_op_process_count(op), 2);
    const sb_process_info *info = sb_op_process(op, 0);
    assert_int_equal(info->pid, 7);
    assert_string_equal(info->tag, "t");
    assert_string_equal(info->command, "/bin/bash");
    assert_int_equal(info->arg_count, 2);
    assert_string_equal(info->args[0], "-l");
    assert_string_equal(info->args[1], "");
    assert_string_equal(info->cwd, "/tmp");
    assert_int_equal(info->env_count, 1);
    assert_string_equal(info->envs[0].name, "A");
    assert_string_equal(info->envs[0].value, "1");
    info = sb_op_process(op, 1);
    assert_int_equal(info->pid, 8);
    assert_null(info->tag);
    assert_null(info->cwd);
    assert_string_equal(info->command, "");
    assert_int_equal(info->arg_count + info->env_count, 0);
    assert_null(sb_op_process(op, 2));
    sb_op_free(op);
    op = list(c, "{}");
    assert_int_equal(c->error.code, SB_OK);
    assert_int_equal(sb_op_process_count(op), 0);
    sb_op_free(op);
    assert_int_equal(server_count(c->server, "Connect-Protocol-Version: 1"), 2);
}

static void a_list_that_is_none_is_refused(void **state) {
    struct connection *c = *state;
    static const char *const answers[] = {"",
                                          "[]",
                                          "{\"processes\":{}}",
                                          "{\"processes\":[1]}",
                                          "{\"processes\":[{\"pid\":\"7\"}]}",
                                          "{\"processes\":[{\"pid\":7,\"config\":{\"args\":[1]}}]}",
                                          "{\"processes\":[{\"pid\":7},{\"pid\":8,\"config\":"
                                          "{\"envs\":{\"A\":1}}}]}"};
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
        sb_op *op = list(c, answers[i]);
        assert_string_equal(sb_code_name(c->error.code), "protocol");
        assert_int_equal(sb_op_process_count(op), 0);
        assert_null(sb_op_process(op, 0));
        sb_op_free(op);
    }
}

static void calls_name_the_process_and_carry_bytes(void **state) {
    struct connection *c = *state;
    const sb_process tagged = {.tag = "t"};
    const char *const paths[] = {SEND, SEND, SEND, CLOSE, SIGNAL, SIGNAL, UPDATE};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        server_add_reply(c->server, paths[i], OK_STATUS, JSON, "{}");
    }
    assert_int_equal(
        connection_end(c, sb_process_send(c->box, &seven, "a\0\xff", 3, false, 0, &c->error)),
        SB_OK);
    assert_int_equal(
        connection_end(c, sb_process_send(c->box, &tagged, "\4", 1, true, 0, &c->error)), SB_OK);
    assert_int_equal(
        connection_end(c, sb_process_send(c->box, &seven, NULL, 0, false, 0, &c->error)), SB_OK);
    assert_int_equal(connection_end(c, sb_process_close_stdin(c->box, &seven, &c->error)), SB_OK);
    assert_int_equal(connection_end(c, sb_process_signal(c->box, &tagged, SIGKILL, &c->error)),
                     SB_OK);
    assert_int_equal(connection_end(c, sb_process_signal(c->box, &seven, SIGINT, &c->error)),
                     SB_OK);
    assert_int_equal(connection_end(c, sb_process_resize(c->box, &seven, 120, 40, &c->error)),
                     SB_OK);
    static const char *const bodies[] = {
        "\r\n\r\n{\"process\":{\"pid\":7},\"input\":{\"stdin\":\"YQD/\"}}",
        "\r\n\r\n{\"process\":{\"tag\":\"t\"},\"input\":{\"pty\":\"BA==\"}}",
        "\r\n\r\n{\"process\":{\"pid\":7},\"input\":{\"stdin\":\"\"}}",
        "\r\n\r\n{\"process\":{\"pid\":7}}",
        "\r\n\r\n{\"process\":{\"tag\":\"t\"},\"signal\":\"SIGNAL_SIGKILL\"}",
        "\r\n\r\n{\"process\":{\"pid\":7},\"signal\":\"SIGNAL_SIGINT\"}",
        "\r\n\r\n{\"process\":{\"pid\":7},\"pty\":{\"size\":{\"cols\":120,\"rows\":40}}}"};
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        assert_int_equal(server_count(c->server, bodies[i]), 1);
    }
}

static void misuse_is_told_at_once(void **state) {
    struct connection *c = *state;
    const sb_process none = {0}, bad_tag = {.tag = "\xff"};
    char *much = calloc(1, 4 * 1024 * 1024 + 1);
    assert_null(sb_process_send(c->box, &none, "", 0, false, 0, &c->error));
    assert_string_equal(c->error.message, "pid: cannot be a process's id");
    assert_null(sb_process_send(c->box, &bad_tag, "", 0, false, 0, &c->error));
    assert_string_equal(c->error.message, "tag: is empty or not UTF-8");
    assert_null(sb_process_send(c->box, NULL, "", 0, false, 0, &c->error));
    assert_null(sb_process_send(c->box, &seven, NULL, 1, false, 0, &c->error));
    assert_int_equal(c->error.code, SB_INVALID);
    assert_null(sb_process_send(c->box, &seven, much, 4 * 1024 * 1024 + 1, false, 0, &c->error));
    assert_int_equal(c->error.code, SB_TOO_LARGE);
    assert_null(sb_process_close_stdin(c->box, &none, &c->error));
    assert_int_equal(c->error.code, SB_INVALID);
    const int signals[] = {0, -1, 65, 1000};
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        assert_null(sb_process_signal(c->box, &seven, signals[i], &c->error));
        assert_int_equal(c->error.code, SB_INVALID);
    }
    assert_null(sb_process_resize(c->box, &seven, 0, 1, &c->error));
    assert_null(sb_process_resize(c->box, &seven, 1, 65536, &c->error));
    assert_string_equal(c->error.message, "rows: must be from 1 to 65535");
    assert_int_equal(server_count(c->server, "/process.Process"), 0);
    free(much);
}

/* What a unary call ends with when the server answers that. */
static sb_code answered(struct connection *c, const char *status, const char *body) {
    server_add_reply(c->server, CLOSE, status, "", body);
    return connection_end(c, sb_process_close_stdin(c->box, &seven, &c->error));
}

static void codes_of_the_protocol_become_ours(void **state) {
    struct connection *c = *state;
    static const struct {
        const char *name;
        sb_code code;
    } codes[] = {{"canceled", SB_UNAVAILABLE},         {"unknown", SB_UNAVAILABLE},
                 {"invalid_argument", SB_INVALID},     {"deadline_exceeded", SB_TIMEOUT},
                 {"not_found", SB_PROCESS_GONE},       {"already_exists", SB_EXISTS},
                 {"permission_denied", SB_PERMISSION}, {"resource_exhausted", SB_RATE_LIMITED},
                 {"failed_precondition", SB_INVALID},  {"aborted", SB_UNAVAILABLE},
                 {"out_of_range", SB_INVALID},         {"unimplemented", SB_UNSUPPORTED},
                 {"internal", SB_UNAVAILABLE},         {"unavailable", SB_UNAVAILABLE},
                 {"data_loss", SB_UNAVAILABLE},        {"unauthenticated", SB_UNAUTHORIZED}};
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        char body[100];
        snprintf(body, sizeof body, "{\"code\":\"%s\",\"message\":\"why\"}", codes[i].name);
        assert_string_equal(sb_code_name(answered(c, "418 X", body)), sb_code_name(codes[i].code));
        assert_string_equal(c->error.message, "close stdin: why");
        assert_int_equal(c->error.status, 418);
    }
}

static void texts_of_errors_say_more_than_their_codes(void **state) {
    struct connection *c = *state;
    static const struct {
        const char *body;
        sb_code code;
    } cases[] = {
        {"{\"code\":\"internal\",\"message\":\"write x: no space left on device\"}", SB_NO_SPACE},
        {"{\"code\":\"resource_exhausted\",\"message\":\"not enough disk space\"}", SB_NO_SPACE},
        {"{\"code\":\"resource_exhausted\",\"message\":\"message size 9 is larger than 8\"}",
         SB_TOO_LARGE},
        {"{\"code\":\"internal\",\"message\":\"open x: permission denied\"}", SB_PERMISSION},
        {"{\"code\":\"unknown\",\"message\":\"open x: Is a directory\"}", SB_IS_DIRECTORY},
        {"{\"code\":\"invalid_argument\",\"message\":\"fork/exec /x: not a directory\"}",
         SB_NOT_DIRECTORY},
        /* A code that says enough is what it is. */
        {"{\"code\":\"not_found\",\"message\":\"process is a directory\"}", SB_PROCESS_GONE},
        /* Of input: */
        {"{\"code\":\"failed_precondition\","
         "\"message\":\"the process does not read its input any more\"}",
         SB_PROCESS_GONE},
        {"{\"code\":\"internal\",\"message\":\"stdin not enabled or closed\"}", SB_INVALID},
        {"{\"code\":\"unknown\",\"message\":\"cannot close stdin for PTY process\"}", SB_INVALID},
        {"{\"code\":\"internal\",\"message\":\"write |1: broken pipe\"}", SB_PROCESS_GONE},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_string_equal(sb_code_name(answered(c, "500 X", cases[i].body)),
                            sb_code_name(cases[i].code));
    }
}

/* Proxies answer with "code" too, and with pages. */
static void what_is_before_the_sandbox_is_told_apart_from_what_is_in_it(void **state) {
    struct connection *c = *state;
    static const struct {
        const char *status, *body;
        sb_code code;
    } cases[] = {
        {"404 Not Found", "{\"code\":404,\"message\":\"sandbox not found\"}", SB_NOT_FOUND},
        {"404 Not Found", "{\"code\":\"no_such_code\",\"message\":\"x\"}", SB_NOT_FOUND},
        {"404 Not Found", "404 page not found\n", SB_UNSUPPORTED},
        {"405 Method Not Allowed", "", SB_UNSUPPORTED},
        {"404 Not Found", "<html>", SB_NOT_FOUND},
        {"404 Not Found", "", SB_NOT_FOUND},
        {"502 Bad Gateway", "{\"sandboxId\":\"i\",\"message\":\"x\",\"code\":502}",
         SB_SANDBOX_LOST},
        {"503 Service Unavailable", "<html>", SB_UNAVAILABLE},
        {"200 OK", "<html>", SB_PROTOCOL},
        {"200 OK", "[]", SB_PROTOCOL},
        {"200 OK", "", SB_PROTOCOL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_string_equal(sb_code_name(answered(c, cases[i].status, cases[i].body)),
                            sb_code_name(cases[i].code));
    }
    server_add(c->server, CLOSE, "", ANSWER_CLOSE);
    assert_int_equal(connection_end(c, sb_process_close_stdin(c->box, &seven, &c->error)),
                     SB_SANDBOX_LOST);
}

static void signals_that_a_server_does_not_know_are_unsupported(void **state) {
    struct connection *c = *state;
    const char *bad = "{\"code\":\"invalid_argument\",\"message\":\"invalid value for enum\"}";
    server_add_reply(c->server, SIGNAL, "400 Bad Request", "", bad);
    assert_int_equal(connection_end(c, sb_process_signal(c->box, &seven, SIGINT, &c->error)),
                     SB_UNSUPPORTED);
    server_add_reply(c->server, SIGNAL, "501 X", "",
                     "{\"code\":\"unimplemented\",\"message\":\"invalid signal\"}");
    assert_int_equal(connection_end(c, sb_process_signal(c->box, &seven, SIGHUP, &c->error)),
                     SB_UNSUPPORTED);
    server_add_reply(c->server, SIGNAL, "400 Bad Request", "", bad);
    assert_int_equal(connection_end(c, sb_process_signal(c->box, &seven, SIGTERM, &c->error)),
                     SB_INVALID);
    server_add_reply(c->server, SIGNAL, "404 Not Found", "",
                     "{\"code\":\"not_found\",\"message\":\"no process 7\"}");
    assert_int_equal(connection_end(c, sb_process_signal(c->box, &seven, SIGINT, &c->error)),
                     SB_PROCESS_GONE);
}

static void a_call_that_is_never_answered_times_out(void **state) {
    struct connection *c = *state;
    sb_client *client = connection_client(c, 0.1);
    sb_box *box = connection_box(c, sb_connect(client, "i123", NULL, &c->error));
    server_add(c->server, LIST, "", ANSWER_HOLD);
    assert_int_equal(connection_end(c, sb_process_list(box, &c->error)), SB_TIMEOUT);
    sb_box_free(box);
    sb_client_free(client);
}

static void a_closed_box_says_so(void **state) {
    struct connection *c = *state;
    assert_int_equal(connection_end(c, sb_box_kill(c->box, &c->error)), SB_OK);
    assert_int_equal(connection_end(c, sb_process_list(c->box, &c->error)), SB_CLOSED);
    assert_int_equal(connection_end(c, sb_process_send(c->box, &seven, "", 0, false, 0, &c->error)),
                     SB_CLOSED);
    assert_int_equal(connection_end(c, sb_process_signal(c->box, &seven, SIGINT, &c->error)),
                     SB_CLOSED);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        WITH(a_list_gives_what_the_server_says),
        WITH(a_list_that_is_none_is_refused),
        WITH(calls_name_the_process_and_carry_bytes),
        WITH(misuse_is_told_at_once),
        WITH(codes_of_the_protocol_become_ours),
        WITH(texts_of_errors_say_more_than_their_codes),
        WITH(what_is_before_the_sandbox_is_told_apart_from_what_is_in_it),
        WITH(signals_that_a_server_does_not_know_are_unsupported),
        WITH(a_call_that_is_never_answered_times_out),
        WITH(a_closed_box_says_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
