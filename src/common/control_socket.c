#include "control_socket.h"
#include "control_message.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#define KIND_CONNECTION 'C'

int control_socket_pair(int ends[2]) {
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
        return -1;
    int flags = fcntl(ends[0], F_GETFL);
    if (flags >= 0 && fcntl(ends[0], F_SETFL, flags | O_NONBLOCK) == 0)
        return 0;
    int saved = errno;
    close(ends[0]);
    close(ends[1]);
    errno = saved;
    return -1;
}

void control_socket_message(const control_connection *connection, control_message *message) {
    *message = (control_message){.kind = connection->word ? connection->word : KIND_CONNECTION,
                                 .flags = connection->flags,
                                 .number = connection->port,
                                 .count = 1,
                                 .fds = {connection->fd}};
}

control_result control_socket_send(int control_fd, const control_connection *connection) {
    control_message message;
    control_socket_message(connection, &message);
    return control_message_send(control_fd, &message);
}

bool control_socket_connection(control_message *message, control_connection *connection) {
    if ((message->kind != KIND_CONNECTION && message->kind != CONTROL_LISTENER) ||
        message->count != 1)
        return false;
    *connection =
        (control_connection){.fd = message->fds[0],
                             .port = message->number,
                             .flags = message->flags,
                             .word = message->kind == KIND_CONNECTION ? 0 : message->kind};
    message->count = 0;
    return true;
}

control_result control_socket_receive(int control_fd, control_connection *connection) {
    control_message message;
    control_result result = control_message_receive(control_fd, &message);
    if (result != CONTROL_OK || control_socket_connection(&message, connection))
        return result;
    control_message_close(&message);
    errno = EPROTO;
    return CONTROL_ERROR;
}
