/* Datagrams on the socket between engine and agent: those of the form are taken, with their
 * descriptors, any other is refused, and no descriptor stays behind. */
#include "control_message.h"

#include "../fuzz.h"
#include "../datagram.h"

#include <errno.h>
#include <fcntl.h>

#define MOST 12

/* Takes what was sent as a message. */
static void take_message(int from, const struct fuzz_input *input, size_t descriptors) {
    control_message message;
    control_result result = control_message_receive(from, &message);
    if (input->length == 4 && descriptors <= CONTROL_FDS_MAX) {
        FUZZ_CHECK(result == CONTROL_OK && message.count == descriptors);
        FUZZ_CHECK(message.kind == (uint8_t)input->bytes[0]);
        for (size_t i = 0; i < message.count; i++)
            FUZZ_CHECK(fcntl(message.fds[i], F_GETFD) & FD_CLOEXEC);
        control_message_close(&message);
    } else if (input->length == 0 && descriptors == 0) {
        FUZZ_CHECK(result == CONTROL_CLOSED);
    } else {
        FUZZ_CHECK(result == CONTROL_ERROR && errno == EPROTO);
    }
}

/* Takes it as what an agent expects, a connection. */
static void take_connection(int from) {
    control_connection connection;
    if (control_socket_receive(from, &connection) != CONTROL_OK)
        return;
    FUZZ_CHECK(fcntl(connection.fd, F_GETFD) & FD_CLOEXEC);
    close(connection.fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    struct fuzz_input input = fuzz_input(bytes, length);
    size_t descriptors = fuzz_byte(&input) % (MOST + 1);
    int ends[2];
    control_message none;
    FUZZ_CHECK(control_socket_pair(ends) == 0);
    int before = fuzz_free_descriptor();
    fuzz_send_datagram(ends[1], input.bytes, input.length, descriptors);
    take_message(ends[0], &input, descriptors);
    fuzz_send_datagram(ends[1], input.bytes, input.length, descriptors);
    take_connection(ends[0]);
    FUZZ_CHECK(control_message_receive(ends[0], &none) == CONTROL_AGAIN);
    FUZZ_CHECK(fuzz_free_descriptor() == before);
    close(ends[0]);
    close(ends[1]);
    return 0;
}
