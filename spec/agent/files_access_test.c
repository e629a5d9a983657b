/* files_access_test.c - who may read and write by /files: the token, and signed URLs. */
#include "files_fixture.h"

#include "signature.h"

#include <time.h>

static int set_up(void **state) {
    if (agent_set_up(state))
        return -1;
    agent.access_token = strdup("the token");
    write_file("a b", "contents");
    return 0;
}

/* A signed target; a '+' is escaped, or left when it is to be careless. */
static const char *sign(const char *path, const char *operation, const char *user,
                        int64_t expiration, bool careless) {
    static char target[500];
    char signature[SIGNATURE_SIZE], escaped[3 * SIGNATURE_SIZE], *to = escaped;
    signature_subject subject = {path, operation, user, expiration != 0, expiration};
    signature_make(&subject, "the token", signature);
    for (const char *c = signature; *c; c++)
        to += sprintf(to, *c == '+' && !careless ? "%%2B" : "%c", *c);
    to = target + sprintf(target, "/files?path=%s&signature=%s", "a+b", escaped);
    if (*user)
        to += sprintf(to, "&username=%s", user);
    if (expiration)
        sprintf(to, "&signature_expiration=%lld", (long long)expiration);
    return target;
}

static void takes_the_token(void **state) {
    (void)state;
    expect_body(download("/files?path=a+b", "X-Access-Token: the token\r\n"), 200, "contents", 8);
    expect_error(download("/files?path=a+b", ""), 401, "missing");
    expect_error(download("/files?path=a+b", "X-Access-Token: another\r\n"), 401, "wrong");
    /* A wrong token is wrong whatever comes with it. */
    expect_error(download(sign("a b", "read", "", 0, false), "X-Access-Token: another\r\n"), 401,
                 "wrong");
    expect_error(ask("POST", "/files?path=new", OCTETS, "x", 1), 401, "missing");
    assert_false(exists("new"));
    assert_int_equal(ask("HEAD", "/files?path=a+b", "", "", 0).status, 401);
}

static void takes_signatures(void **state) {
    (void)state;
    int64_t soon = time(NULL) + 60, late = time(NULL) - 60;
    expect_body(download(sign("a b", "read", "", 0, false), ""), 200, "contents", 8);
    expect_body(download(sign("a b", "read", "user", 0, false), ""), 200, "contents", 8);
    expect_body(download(sign("a b", "read", "", soon, false), ""), 200, "contents", 8);
    assert_int_equal(ask("HEAD", sign("a b", "read", "", soon, false), "", "", 0).status, 200);
    for (int64_t i = 0; i < 50; i++) /* some of them have a '+' */
        expect_body(download(sign("a b", "read", "", soon + i, true), ""), 200, "contents", 8);
    struct answer answer = ask("POST", sign("a b", "write", "", soon, false), OCTETS, "new", 3);
    assert_int_equal(answer.status, 200);
    free(answer.body);
    expect_file("a b", "new", 3);
    expect_error(download(sign("a b", "read", "", late, false), ""), 401,
                 "signature is already expired");
    expect_error(download(sign("a b", "write", "", soon, false), ""), 401, "not right");
    expect_error(ask("POST", sign("a b", "read", "", soon, false), OCTETS, "x", 1), 401,
                 "not right");
    expect_error(download(sign("a", "read", "", soon, false), ""), 401, "not right");
    expect_error(download(sign("a b", "read", "nobody-else", soon, false), ""), 401,
                 "no such user");
    expect_file("a b", "new", 3);
}

static void refuses_signatures_that_were_changed(void **state) {
    (void)state;
    char target[600];
    int64_t soon = time(NULL) + 60;
    /* A later expiration, none, and another user than the signed ones. */
    snprintf(target, sizeof target, "%s0", sign("a b", "read", "", soon, false));
    expect_error(download(target, ""), 401, "not right");
    snprintf(target, sizeof target, "%s", sign("a b", "read", "", soon, false));
    *strstr(target, "&signature_expiration") = '\0';
    expect_error(download(target, ""), 401, "not right");
    snprintf(target, sizeof target, "%s&username=user", sign("a b", "read", "", soon, false));
    expect_error(download(target, ""), 401, "not right");
    snprintf(target, sizeof target, "%sx", sign("a b", "read", "", soon, false));
    expect_error(download(target, ""), 400, "signature_expiration");
    expect_error(download("/files?path=a+b&signature=", ""), 401, "not right");
    for (int i = 0; i < 200; i++) {
        static const char letters[] = "v1_ABCabc+/=%00 ~";
        int length = sprintf(target, "/files?path=a+b&signature=v1_");
        for (int j = 0; j < i % 60; j++) {
            char c = letters[(i * 31 + j * 17 + j * j) % (int)(sizeof letters - 1)];
            target[length++] = c == ' ' ? '+' : c;
        }
        target[length] = '\0';
        struct answer answer = download(target, "");
        assert_int_equal(answer.status, 401);
        free(answer.body);
    }
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, agent_tear_down)
    const struct CMUnitTest tests[] = {
        TEST(takes_the_token),
        TEST(takes_signatures),
        TEST(refuses_signatures_that_were_changed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
