/* Requests to the agent, from the request line on, as far as they are only read: what is wrong is
 * answered with JSON that says it, once. Nothing is started and no file is touched. */
#include "connect_messages.h"
#include "connect_stream.h"
#include "connect_unary.h"
#include "filesystem_request.h"
#include "process_request.h"
#include "request_model.h"
#include "user.h"

#include "../fuzz.h"

#include <ctype.h>
#include <sys/socket.h>
#include <unistd.h>

static struct agent agent = {.home = "/home/user", .access_token = (char *)"token"};
static unsigned which;

static void read_process(http_request *request) {
    process_request parsed;
    process_fault fault = {0};
    json_t *message = connect_stream_read(request);
    if (!message)
        return;
    FUZZ_CHECK(connect_keepalive(request) >= 1.0 && connect_timeout(request) >= 0.0);
    if (process_request_read(&agent, request, message, &parsed, &fault)) {
        FUZZ_CHECK(parsed.argv[0] && *parsed.argv[0] && *parsed.directory == '/');
        FUZZ_CHECK(parsed.timeout >= 0.0 && parsed.timeout < 1e8);
        http_reply_json(request, 200, json_object());
    } else {
        FUZZ_CHECK(fault.code && *fault.message && fuzz_is_printable(fault.message));
        connect_stream_error(request, fault.code, fault.message);
    }
    process_request_free(&parsed);
}

static void read_filesystem(http_request *request) {
    json_t *message = filesystem_read(request);
    char *path =
        message ? filesystem_path(&agent, request, message, "path", connect_reply_error) : NULL;
    if (path) {
        bool recursive;
        uint32_t depth;
        FUZZ_CHECK(*path == '/' && strlen(path) < PATH_MAX);
        filesystem_flag(filesystem_member(message, "isRecursive", "is_recursive"), &recursive);
        filesystem_number(json_object_get(message, "depth"), &depth);
        filesystem_reply_error(request, "reading", path, 2);
    }
    free(path);
    json_decref(message);
}

static void read_code(http_request *request) {
    static const model_field fields[] = {{"code", MODEL_STRING},
                                         {"context_id", MODEL_OPTIONAL_STRING},
                                         {"env_vars", MODEL_OPTIONAL_ENVS},
                                         {0}};
    json_t *body = model_read(request, fields);
    if (!body)
        return;
    FUZZ_CHECK(json_is_string(json_object_get(body, "code")) && model_string(body, "language"));
    http_reply_json(request, 200, json_object());
    json_decref(body);
}

static void handle(http_request *request, void *user) {
    (void)user;
    user_of_request_enter(request);
    agent_is_authorized(&agent, request);
    agent_prepare_reply(request);
    if (which % 3 == 0)
        read_process(request);
    else if (which % 3 == 1)
        read_filesystem(request);
    else
        read_code(request);
}

/* The body of the first answer, when it has a length: JSON where it says so. */
static void check_answer(struct fuzz_sink *answers) {
    fuzz_add(answers, "", 1);
    FUZZ_CHECK(answers->length == 1 || strncmp(answers->bytes, "HTTP/1.1 ", 9) == 0);
    char *body = strstr(answers->bytes, "\r\n\r\n");
    const char *length = strcasestr(answers->bytes, "\r\nContent-Length: ");
    const char *type = strcasestr(answers->bytes, "\r\nContent-Type: application/json");
    if (!body || !length || !type || length > body || type > body)
        return;
    size_t size = strtoul(length + 18, NULL, 10);
    FUZZ_CHECK(size <= answers->length - (size_t)(body + 4 - answers->bytes) - 1);
    json_t *root = json_loadb(body + 4, size, JSON_ALLOW_NUL, NULL);
    FUZZ_CHECK(json_is_object(root));
    json_decref(root);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    struct fuzz_input input = fuzz_input(bytes, length);
    struct ev_loop *loop = ev_default_loop(EVFLAG_AUTO);
    struct fuzz_sink answers = {0};
    static char got[65536];
    ssize_t count = -1;
    int ends[2];
    which = fuzz_byte(&input);
    http_server *server = http_server_new(loop, handle, NULL, 64 * 1024);
    FUZZ_CHECK(server && socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
    FUZZ_CHECK(http_server_add(server, ends[1], NULL) == 0);
    send(ends[0], input.bytes, input.length, MSG_NOSIGNAL | MSG_DONTWAIT);
    for (int i = 0; i < 30 && count != 0; i++) {
        ev_run(loop, EVRUN_NOWAIT);
        while ((count = recv(ends[0], got, sizeof got, MSG_DONTWAIT)) > 0)
            fuzz_add(&answers, got, (size_t)count);
    }
    http_server_free(server);
    close(ends[0]);
    /* The answer to HEAD has a length and no body. */
    if (!memmem(input.bytes, input.length, "HEAD", 4))
        check_answer(&answers);
    fuzz_sink_free(&answers);
    return 0;
}
