/* Requests as bytes: whatever comes, the server answers with HTTP or closes, each request gets one
 * answer, and a body that is streamed is the one that was sent. */
#include "http_server.h"

#include "../fuzz.h"

#include <sys/socket.h>
#include <unistd.h>

#define MAX_BODY 2000

static unsigned how;
static int open_bodies;
static struct fuzz_sink streamed;

static void on_parameter(const char *name, const char *value, void *user) {
    size_t *total = user;
    FUZZ_CHECK(name && value);
    *total += strlen(name) + strlen(value);
}

static void reply(http_request *request) {
    size_t length = 0, total = 0;
    const char *body = http_request_body(request, &length);
    FUZZ_CHECK(length <= MAX_BODY && (!body || body[length] == '\0'));
    FUZZ_CHECK(http_request_path(request) && http_request_method(request));
    http_request_each_query(request, on_parameter, &total);
    http_request_each_header(request, on_parameter, &total);
    http_request_query(request, "a");
    if (how & 1) {
        http_stream *stream = http_stream_start(request, 200, "text/plain");
        if (stream) {
            http_stream_write(stream, "abc", 3);
            http_stream_end(stream);
        }
    } else {
        http_reply_json(request, 200, json_pack("{s:I}", "total", (json_int_t)total));
    }
}

static void handle(http_request *request, void *user) {
    (void)user;
    reply(request);
}

/* Takes a part of what comes, at times, and the rest a moment later. */
static size_t on_data(void *user, const char *bytes, size_t length) {
    http_request *request = user;
    size_t taken = how & 4 && length > 3 ? length / 2 : length;
    fuzz_add(&streamed, bytes, taken);
    if (taken < length)
        http_body_resume(request);
    return taken;
}

static void on_end(void *user) {
    open_bodies--;
    reply(user);
}

static void on_gone(void *user) {
    open_bodies--;
    http_reply(user, 400, NULL, NULL, 0);
}

static void handle_head(http_request *request, void *user) {
    static const http_body body = {on_data, on_end};
    (void)user;
    if (!(how & 2))
        return;
    open_bodies++;
    http_request_on_gone(request, on_gone, request);
    http_request_stream_body(request, &body, request);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    struct fuzz_input input = fuzz_input(bytes, length);
    struct ev_loop *loop = ev_default_loop(EVFLAG_AUTO);
    struct fuzz_sink answers = {0};
    char *piece, got[4096];
    size_t size;
    ssize_t count = -1;
    int ends[2];
    how = fuzz_byte(&input);
    open_bodies = 0;
    http_server *server = http_server_new(loop, handle, NULL, MAX_BODY);
    FUZZ_CHECK(server && socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
    http_server_on_head(server, handle_head);
    FUZZ_CHECK(http_server_add(server, ends[1], NULL) == 0);
    struct fuzz_pieces pieces = fuzz_pieces(input.bytes, input.length, how >> 3);
    for (int i = 0; i < 30 && count != 0; i++) {
        if (fuzz_next(&pieces, &piece, &size))
            send(ends[0], piece, size, MSG_NOSIGNAL | MSG_DONTWAIT);
        ev_run(loop, EVRUN_NOWAIT);
        while ((count = recv(ends[0], got, sizeof got, MSG_DONTWAIT)) > 0)
            fuzz_add(&answers, got, (size_t)count);
    }
    fuzz_stop(&pieces);
    FUZZ_CHECK(answers.length == 0 ||
               (answers.length > 12 && memcmp(answers.bytes, "HTTP/1.", 7) == 0));
    FUZZ_CHECK(streamed.length <= input.length);
    close(ends[0]);
    for (int i = 0; i < 3; i++)
        ev_run(loop, EVRUN_NOWAIT);
    http_server_free(server);
    fuzz_sink_free(&streamed);
    fuzz_sink_free(&answers);
    return 0;
}
