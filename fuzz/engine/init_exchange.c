/* What an agent answers to the engine's first request: a status, or that there is none; the
 * descriptor is closed. */
#include "init_exchange.h"

#include "../fuzz.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

static int answered; /* calls */
static int answer_status;

static void on_done(int status, void *user) {
    (void)user;
    answered++;
    answer_status = status;
}

static void answer(int fd, struct fuzz_input input, unsigned how) {
    struct ev_loop *loop = ev_default_loop(EVFLAG_AUTO);
    struct fuzz_pieces pieces = fuzz_pieces(input.bytes, input.length, how);
    char *piece, request[512];
    size_t length;
    ev_run(loop, EVRUN_NOWAIT);
    FUZZ_CHECK(recv(fd, request, sizeof request, MSG_DONTWAIT) > 0);
    while (!answered && fuzz_next(&pieces, &piece, &length)) {
        FUZZ_CHECK(send(fd, piece, length, MSG_NOSIGNAL) == (ssize_t)length);
        ev_run(loop, EVRUN_NOWAIT);
    }
    fuzz_stop(&pieces);
    shutdown(fd, SHUT_WR);
    for (int i = 0; i < 100 && !answered; i++)
        ev_run(loop, EVRUN_NOWAIT);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    struct fuzz_input input = fuzz_input(bytes, length);
    unsigned how = fuzz_byte(&input);
    int ends[2];
    FUZZ_CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) == 0);
    answered = 0;
    FUZZ_CHECK(init_exchange_start(ev_default_loop(EVFLAG_AUTO), ends[1], "{}", 2, on_done, NULL));
    answer(ends[0], input, how);
    FUZZ_CHECK(answered == 1);
    FUZZ_CHECK(answer_status == -1 || (answer_status >= 100 && answer_status <= 999));
    if (answer_status > 0)
        FUZZ_CHECK(input.length > 12 && memcmp(input.bytes, "HTTP/1.", 7) == 0);
    FUZZ_CHECK(fcntl(ends[1], F_GETFD) < 0);
    close(ends[0]);
    return 0;
}
