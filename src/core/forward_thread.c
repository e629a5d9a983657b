#include "forward_thread.h"

#include "forward_connection.h"
#include "multi.h"
#include "timestamp.h"

#include <errno.h>
#include <limits.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>

/* Without accepting connections when there are no descriptors for another. */
#define PAUSE_SECONDS 0.1
/* Descriptors to wait for: two of our own, two of each connection. */
#define OWN_DESCRIPTORS 2
#define MAX_DESCRIPTORS (OWN_DESCRIPTORS + 2 * SBI_FORWARD_CONNECTIONS)

/* What the thread has. */
struct server {
    struct sbi_forward_service *service;
    CURLM *multi; /* NULL with the local engine */
    struct sbi_forward_connection *first;
    size_t count;
    int64_t paused_until; /* accepts nothing before */
    struct pollfd fds[MAX_DESCRIPTORS];
    struct curl_waitfd curl_fds[MAX_DESCRIPTORS];
};

static bool is_accepting(const struct server *server) {
    return server->count < SBI_FORWARD_CONNECTIONS && server->paused_until <= sbi_now();
}

static void accept_all(struct server *server) {
    while (is_accepting(server)) {
        int fd = accept4(server->service->listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (fd < 0) {
            if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
                server->paused_until = sbi_deadline(PAUSE_SECONDS);
            }
            if (errno != EINTR && errno != ECONNABORTED) {
                return;
            }
            continue;
        }
        int on = 1;
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        struct sbi_forward_connection *connection =
            sbi_forward_connection_new(&server->service->target, server->multi, fd);
        if (connection != NULL) {
            connection->next = server->first;
            server->first = connection;
            server->count++;
            sbi_forward_connection_run(connection);
        }
    }
}

/* How many connections libcurl is at work on. */
static size_t count_connecting(const struct server *server) {
    size_t count = 0;
    for (const struct sbi_forward_connection *c = server->first; c != NULL; c = c->next) {
        count += c->stage == SBI_FORWARD_CONNECT;
    }
    return count;
}

static void set_fd(struct pollfd *entry, int fd, short events) {
    /* A descriptor that nothing is wanted of would still tell that it was hung up, for ever. */
    *entry = (struct pollfd){.fd = events != 0 ? fd : -1, .events = events};
}

/* Fills what to wait for. Returns the milliseconds to wait at most, -1: for ever. */
static int prepare(struct server *server, nfds_t *count) {
    int64_t due = server->paused_until > sbi_now() ? server->paused_until : SBI_NEVER;
    set_fd(&server->fds[0], server->service->wake_fd, POLLIN);
    set_fd(&server->fds[1], server->service->listen_fd, is_accepting(server) ? POLLIN : 0);
    *count = OWN_DESCRIPTORS;
    for (struct sbi_forward_connection *c = server->first; c != NULL; c = c->next) {
        set_fd(&server->fds[(*count)++], c->local_fd, sbi_forward_connection_local_events(c));
        set_fd(&server->fds[(*count)++], c->far.fd, sbi_forward_connection_far_events(c));
        int64_t its = sbi_forward_connection_due(c);
        due = its < due ? its : due;
    }
    if (due == SBI_NEVER) {
        return -1;
    }
    int64_t left = due - sbi_now();
    return left <= 0 ? 0 : left / 1000000 >= INT_MAX ? INT_MAX : (int)(left / 1000000) + 1;
}

/* Waits for descriptors and, while libcurl connects, for its own. */
static void wait_for_events(struct server *server, nfds_t count, int milliseconds) {
    if (count_connecting(server) > 0) {
        unsigned int used = 0;
        for (nfds_t i = 0; i < count; i++) {
            if (server->fds[i].fd >= 0) {
                server->curl_fds[used++] =
                    (struct curl_waitfd){.fd = server->fds[i].fd, .events = server->fds[i].events};
            }
        }
        curl_multi_poll(server->multi, server->curl_fds, used,
                        milliseconds < 0 ? 60000 : milliseconds, NULL);
        milliseconds = 0;
    }
    if (poll(server->fds, count, milliseconds) < 0) {
        for (nfds_t i = 0; i < count; i++) {
            server->fds[i].revents = 0;
        }
    }
}

static void run_libcurl(struct server *server) {
    int running, left;
    CURLMsg *message;
    curl_multi_perform(server->multi, &running);
    while ((message = curl_multi_info_read(server->multi, &left)) != NULL) {
        if (message->msg == CURLMSG_DONE) {
            CURLcode result = message->data.result;
            char *connection = NULL;
            curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &connection);
            sbi_forward_connection_connected((struct sbi_forward_connection *)connection, result);
        }
    }
}

/* In the order of prepare(): those accepted since then are not among them yet. */
static void run_connections(struct server *server) {
    nfds_t at = OWN_DESCRIPTORS;
    int64_t now = sbi_now();
    for (struct sbi_forward_connection *c = server->first; c != NULL; c = c->next, at += 2) {
        if (server->fds[at].revents != 0 || server->fds[at + 1].revents != 0 ||
            sbi_forward_connection_due(c) <= now) {
            sbi_forward_connection_run(c);
        }
    }
}

static void remove_ended(struct server *server) {
    for (struct sbi_forward_connection **link = &server->first; *link != NULL;) {
        struct sbi_forward_connection *connection = *link;
        if (connection->stage != SBI_FORWARD_OVER) {
            link = &connection->next;
            continue;
        }
        *link = connection->next;
        sbi_forward_connection_free(connection);
        server->count--;
    }
}

static void serve(struct server *server) {
    for (;;) {
        nfds_t count;
        int milliseconds = prepare(server, &count);
        wait_for_events(server, count, milliseconds);
        if (server->fds[0].revents != 0) {
            return;
        }
        run_connections(server);
        if (server->fds[1].revents != 0) {
            accept_all(server);
        }
        /* Also those that a head has just set to be connected: libcurl begins with that. */
        if (server->multi != NULL && count_connecting(server) > 0) {
            run_libcurl(server);
        }
        remove_ended(server);
    }
}

void *sbi_forward_serve(void *user) {
    struct sbi_forward_service *service = user;
    struct server *server = calloc(1, sizeof *server);
    if (server == NULL) {
        return NULL;
    }
    server->service = service;
    server->multi = service->target.config->local ? NULL : sbi_multi_new();
    if (server->multi != NULL || service->target.config->local) {
        serve(server);
    }
    while (server->first != NULL) {
        struct sbi_forward_connection *connection = server->first;
        server->first = connection->next;
        sbi_forward_connection_free(connection);
    }
    if (server->multi != NULL) {
        curl_multi_cleanup(server->multi);
    }
    free(server);
    return NULL;
}
