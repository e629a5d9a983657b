/* What a local engine answers to a request for a tunnel: when it agrees, all that follows its head
 * is given on, and nothing else ever is. */
#include "config.h"
#include "forward_connection.h"
#include "timestamp.h"

#include "../fuzz.h"

#include <sys/socket.h>
#include <unistd.h>

static struct sbi_config config = {.local = true};
static const struct sbi_forward_target target = {.config = &config};

/* What has to arrive: NULL when it is no agreement. */
static const char *agreed(const struct fuzz_input *input, size_t *length) {
    static const char begin[] = "HTTP/1.1 200 ";
    const char *end = input->length ? memmem(input->bytes, input->length, "\r\n\r\n", 4) : NULL;
    if (!end || input->length < sizeof begin - 1 || memcmp(input->bytes, begin, sizeof begin - 1))
        return NULL;
    *length = input->length - (size_t)(end + 4 - input->bytes);
    return end + 4;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    struct fuzz_input input = fuzz_input(bytes, length);
    struct fuzz_sink arrived = {0};
    int far[2], local[2];
    char *piece, got[4096];
    size_t size;
    ssize_t count;
    int flags = SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK;
    FUZZ_CHECK(socketpair(AF_UNIX, flags, 0, far) == 0);
    FUZZ_CHECK(socketpair(AF_UNIX, flags, 0, local) == 0);
    unsigned how = fuzz_byte(&input);
    struct sbi_forward_connection *connection = sbi_forward_connection_new(&target, NULL, local[1]);
    FUZZ_CHECK(connection);
    connection->far.fd = far[1];
    connection->stage = SBI_FORWARD_TUNNEL;
    connection->due = sbi_deadline(20);
    struct fuzz_pieces pieces = fuzz_pieces(input.bytes, input.length, how);
    while (fuzz_next(&pieces, &piece, &size)) {
        if (send(far[0], piece, size, MSG_NOSIGNAL) < 0)
            continue;
        sbi_forward_connection_run(connection);
        while ((count = recv(local[0], got, sizeof got, 0)) > 0)
            fuzz_add(&arrived, got, (size_t)count);
    }
    size_t expected_length = 0;
    const char *expected = agreed(&input, &expected_length);
    if (expected) {
        shutdown(far[0], SHUT_WR);
        for (int i = 0; i < 4; i++) {
            sbi_forward_connection_run(connection);
            while ((count = recv(local[0], got, sizeof got, 0)) > 0)
                fuzz_add(&arrived, got, (size_t)count);
        }
    }
    FUZZ_CHECK(arrived.length == expected_length);
    FUZZ_CHECK(arrived.length == 0 || memcmp(arrived.bytes, expected, expected_length) == 0);
    sbi_forward_connection_free(connection);
    close(far[0]);
    close(local[0]);
    fuzz_sink_free(&arrived);
    return 0;
}
