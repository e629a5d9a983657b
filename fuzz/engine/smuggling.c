/* A connection that is for a sandbox as long as its first request: the engine's idea of where that
 * request ends against libmicrohttpd's, which reads it in the sandbox. Nothing of a second request
 * may pass. */
#include "first_request.h"
#include "http_server.h"

#include "../fuzz.h"

#include <ev.h>
#include <sys/socket.h>
#include <unistd.h>

static int requests;

static void handle(http_request *request, void *user) {
    (void)user;
    requests++;
    http_reply(request, 200, "text/plain", "ok", 2);
}

/* Gives the bytes to a server; returns how many requests it saw in them. */
static int count_requests(const struct fuzz_sink *bytes) {
    char answers[4096];
    int ends[2];
    struct ev_loop *loop = ev_default_loop(EVFLAG_AUTO);
    http_server *server = http_server_new(loop, handle, NULL, 64 * 1024);
    FUZZ_CHECK(server && socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
    requests = 0;
    FUZZ_CHECK(send(ends[0], bytes->bytes, bytes->length, MSG_NOSIGNAL) == (ssize_t)bytes->length);
    FUZZ_CHECK(http_server_add(server, ends[1], NULL) == 0);
    for (int i = 0; i < 20; i++) {
        ev_run(loop, EVRUN_NOWAIT);
        if (recv(ends[0], answers, sizeof answers, MSG_DONTWAIT) == 0)
            break;
    }
    http_server_free(server);
    close(ends[0]);
    return requests;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    struct fuzz_input input = fuzz_input(bytes, length);
    unsigned how = fuzz_byte(&input);
    struct route route;
    size_t scanned = 0, size;
    char *piece;
    if (route_parse(input.bytes, input.length, &scanned, &route) != ROUTE_DONE || route.tunnel)
        return 0;
    struct first_request first;
    struct fuzz_sink passed = {0};
    first_request_init(&first, &route);
    fuzz_add(&passed, input.bytes, route.head_length);
    struct fuzz_pieces pieces =
        fuzz_pieces(input.bytes + route.head_length, input.length - route.head_length, how);
    while (fuzz_next(&pieces, &piece, &size)) {
        enum pump_rest rest = PUMP_DROP;
        size_t taken = first_request_gate.admit(&first, piece, size, &rest);
        FUZZ_CHECK(taken <= size);
        fuzz_add(&passed, piece, taken);
        if (taken < size)
            break;
    }
    fuzz_stop(&pieces);
    FUZZ_CHECK(count_requests(&passed) <= 1);
    fuzz_sink_free(&passed);
    return 0;
}
