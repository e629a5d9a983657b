#include "local_socket.h"

#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* libcurl sends a request again when a kept connection dies before any answer. Code must not run
 * twice for that, nor must a sandbox be made twice. */
static bool is_repetition(const struct sbi_dial *dial) {
    long sent = 0;
    curl_easy_getinfo(dial->easy, CURLINFO_REQUEST_SIZE, &sent);
    return dial->once && sent > 0;
}

static curl_socket_t open_socket(void *user, curlsocktype purpose, struct curl_sockaddr *address) {
    (void)purpose;
    struct sbi_dial *dial = user;
    if (is_repetition(dial)) {
        dial->was_repeated = true;
        return CURL_SOCKET_BAD;
    }
    dial->fd = socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
    return dial->fd;
}

/* Nobody but the user and root may play the engine at a path that the user did not choose: it may
 * lie in a directory that all can write to. */
static bool is_trusted(const struct sbi_config *config, int fd) {
    struct ucred peer;
    socklen_t length = sizeof peer;
    if (config->socket_is_given) {
        return true;
    }
    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0 &&
           (peer.uid == geteuid() || peer.uid == 0);
}

/* Of several addresses that are tried at once, the connection may be another than the last one, and
 * the last one's descriptor may be the host's by now. */
static bool has_port(int fd, int port) {
    struct sockaddr_storage own;
    socklen_t length = sizeof own;
    if (fd < 0 || getsockname(fd, (struct sockaddr *)&own, &length) != 0) {
        return false;
    }
    return own.ss_family == AF_INET    ? ntohs(((struct sockaddr_in *)&own)->sin_port) == port
           : own.ss_family == AF_INET6 ? ntohs(((struct sockaddr_in6 *)&own)->sin6_port) == port
                                       : false;
}

/* Called when a connection stands, a new one or a kept one, before the request is sent on it. */
static int before_request(void *user, char *peer_ip, char *local_ip, int peer_port,
                          int local_port) {
    (void)peer_ip, (void)local_ip, (void)peer_port;
    struct sbi_dial *dial = user;
    struct sockaddr_un peer;
    socklen_t length = sizeof peer;
    if (is_repetition(dial)) {
        dial->was_repeated = true;
        return CURL_PREREQFUNC_ABORT;
    }
    if (!dial->config->local && !has_port(dial->fd, local_port)) {
        dial->fd = -1;
    }
    if (!dial->config->local || dial->fd < 0) {
        return CURL_PREREQFUNC_OK;
    }
    /* A unix socket never connects later: libcurl takes EAGAIN, too many waiting at the engine, for
     * a connection on its way. */
    if (getpeername(dial->fd, (struct sockaddr *)&peer, &length) != 0) {
        dial->failure = EAGAIN;
        return CURL_PREREQFUNC_ABORT;
    }
    if (!is_trusted(dial->config, dial->fd)) {
        dial->is_impostor = true;
        dial->failure = EPERM;
        return CURL_PREREQFUNC_ABORT;
    }
    return CURL_PREREQFUNC_OK;
}

void sbi_dial_apply(struct sbi_dial *dial, const struct sbi_config *config, CURL *easy) {
    dial->config = config;
    dial->easy = easy;
    dial->fd = -1;
    curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, open_socket);
    curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, dial);
    curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, before_request);
    curl_easy_setopt(easy, CURLOPT_PREREQDATA, dial);
}

int sbi_local_connect(const struct sbi_config *config) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) {
        return -1;
    }
    /* The configuration has checked that it fits. */
    memcpy(address.sun_path, config->socket, strlen(config->socket));
    int failure = 0;
    if (connect(fd, (struct sockaddr *)&address, sizeof address) != 0) {
        failure = errno;
    } else if (!is_trusted(config, fd)) {
        failure = EPERM;
    }
    if (failure == 0) {
        return fd;
    }
    close(fd);
    errno = failure;
    return -1;
}

/* What connecting says now; EAGAIN when it works meanwhile. */
static int probe(const struct sbi_config *config) {
    int fd = sbi_local_connect(config);
    if (fd < 0 && errno != EPERM) {
        return errno;
    }
    if (fd >= 0) {
        close(fd);
    }
    return EAGAIN; /* somebody listens; who it is, is looked at when a request is sent */
}

void sbi_dial_explain(struct sbi_dial *dial, CURLcode result) {
    if (!dial->config->local || dial->failure != 0 || result != CURLE_COULDNT_CONNECT ||
        dial->was_repeated) {
        return;
    }
    long reason = 0;
    curl_easy_getinfo(dial->easy, CURLINFO_OS_ERRNO, &reason);
    dial->failure = reason != 0 ? (int)reason : probe(dial->config);
}
