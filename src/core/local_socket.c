#include "local_socket.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* Nobody but the user and root may play the engine at a path that the user did not choose: it may
 * lie in a directory that all can write to. */
static bool is_trusted(int fd, const struct sbi_config *config) {
    struct ucred peer;
    socklen_t length = sizeof peer;
    if (config->socket_is_given) {
        return true;
    }
    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0 &&
           (peer.uid == geteuid() || peer.uid == 0);
}

static curl_socket_t give_up(struct sbi_dial *dial, int fd, int failure) {
    dial->failure = failure;
    if (fd >= 0) {
        close(fd);
    }
    return CURL_SOCKET_BAD;
}

static curl_socket_t connect_local(struct sbi_dial *dial) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) {
        return give_up(dial, fd, errno);
    }
    /* The configuration has checked that it fits. */
    memcpy(address.sun_path, dial->config->socket, strlen(dial->config->socket));
    /* On a unix socket this ends at once: connected, refused, or EAGAIN when too many wait. */
    if (connect(fd, (struct sockaddr *)&address, sizeof address) != 0) {
        return give_up(dial, fd, errno);
    }
    if (!is_trusted(fd, dial->config)) {
        dial->is_impostor = true;
        return give_up(dial, fd, EPERM);
    }
    return fd;
}

/* libcurl sends a request again when a kept connection dies before any answer. Code must not run
 * twice for that, nor must a sandbox be made twice. */
static bool is_repetition(struct sbi_dial *dial) {
    long sent = 0;
    curl_easy_getinfo(dial->easy, CURLINFO_REQUEST_SIZE, &sent);
    return dial->once && sent > 0;
}

static curl_socket_t open_socket(void *user, curlsocktype purpose, struct curl_sockaddr *address) {
    (void)purpose;
    struct sbi_dial *dial = user;
    if (is_repetition(dial)) {
        dial->was_repeated = true;
        return give_up(dial, -1, ECONNRESET);
    }
    if (dial->config->local) {
        return connect_local(dial);
    }
    int fd = socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
    return fd >= 0 ? fd : give_up(dial, fd, errno);
}

static int tell_connected(void *user, curl_socket_t fd, curlsocktype purpose) {
    (void)fd;
    (void)purpose;
    struct sbi_dial *dial = user;
    return dial->config->local ? CURL_SOCKOPT_ALREADY_CONNECTED : CURL_SOCKOPT_OK;
}

void sbi_dial_apply(struct sbi_dial *dial) {
    curl_easy_setopt(dial->easy, CURLOPT_OPENSOCKETFUNCTION, open_socket);
    curl_easy_setopt(dial->easy, CURLOPT_OPENSOCKETDATA, dial);
    curl_easy_setopt(dial->easy, CURLOPT_SOCKOPTFUNCTION, tell_connected);
    curl_easy_setopt(dial->easy, CURLOPT_SOCKOPTDATA, dial);
}
