/* http_server.c - connections and the loop: libmicrohttpd with external polling inside libev. */
#include "http_internal.h"

#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* Bytes of buffer a connection may use. A request's head must fit, and half of it is what one chunk
 * of a streamed answer can take. */
#define CONNECTION_MEMORY (64 * 1024)
/* Seconds without a byte after which a connection is closed (requests being worked on have no
 * limit). */
#define IDLE_SECONDS 120
/* libmicrohttpd's own default is what select() could watch. */
#define MAX_CONNECTIONS 10000
/* Seconds after libmicrohttpd did something. */
#define LOOK_SECONDS 0.5
/* Rounds of work for libmicrohttpd in one turn of the loop before other watchers get theirs. */
#define ROUNDS_PER_TURN 8

void http_server_due(http_server *server) {
    if (!server->due && !server->running)
        ev_feed_event(server->loop, &server->work, EV_CUSTOM);
    server->due = true;
}

static void on_epoll_ready(struct ev_loop *loop, struct ev_io *io, int events) {
    (void)loop, (void)events;
    http_server_due(io->data);
}

static void on_timer(struct ev_loop *loop, struct ev_timer *timer, int events) {
    (void)loop, (void)events;
    http_server_due(timer->data);
}

/* Closes connections that have ended where more of a request, or another, would have to come:
 * libmicrohttpd (0.9.75) does not notice an end that came together with the last bytes it read. The
 * shutdown wakes it, and it completes the request as broken. */
static void look_for_ends(http_server *server) {
    char byte;
    for (struct http_connection *at = server->connections; at; at = at->next) {
        const http_request *request = at->request;
        if ((!request || (!request->complete && !request->suspended)) &&
            recv(at->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0)
            shutdown(at->fd, SHUT_RDWR);
    }
}

static void on_look(struct ev_loop *loop, struct ev_timer *timer, int events) {
    (void)loop, (void)events;
    http_server *server = timer->data;
    server->look_due = true;
    http_server_due(server);
}

/* `settled`: libmicrohttpd has used all that it has read. */
static void look_soon(http_server *server, bool settled) {
    if (!server->look_due) {
        if (server->connections && !ev_is_active(&server->look)) {
            ev_timer_set(&server->look, LOOK_SECONDS, 0.0);
            ev_timer_start(server->loop, &server->look);
        }
    } else if (settled) {
        server->look_due = false;
        look_for_ends(server);
    }
}

/* Runs libmicrohttpd when something happened, as the last thing in a turn of the loop: what was
 * resumed or written leaves before the loop sleeps. */
static void on_work(struct ev_loop *loop, struct ev_idle *work, int events) {
    (void)events;
    http_server *server = work->data;
    MHD_UNSIGNED_LONG_LONG wait_ms = 0;
    bool wait = false;
    server->running = true;
    for (int round = 0; round < ROUNDS_PER_TURN; round++) {
        server->due = false;
        MHD_run(server->daemon);
        wait = MHD_get_timeout(server->daemon, &wait_ms) == MHD_YES;
        if (!server->due && !(wait && wait_ms == 0))
            break;
    }
    server->running = false;
    if (server->due) {
        server->due = false;
        wait = true;
        wait_ms = 0;
    }
    look_soon(server, !(wait && wait_ms == 0));
    ev_timer_stop(loop, &server->timer);
    if (wait) {
        ev_timer_set(&server->timer, (double)wait_ms / 1000.0, 0.0);
        ev_timer_start(loop, &server->timer);
    }
}

static enum MHD_Result begin(http_server *server, struct MHD_Connection *conn, const char *url,
                             const char *method, void **context) {
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(conn, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    if (!info || !info->socket_context)
        return MHD_NO;
    http_request *request = http_request_new(server, conn, method, url, info->socket_context);
    if (!request)
        return MHD_NO;
    *context = request;
    return http_body_begin(request);
}

static enum MHD_Result on_request(void *user, struct MHD_Connection *conn, const char *url,
                                  const char *method, const char *version, const char *upload,
                                  size_t *upload_size, void **context) {
    (void)version;
    http_server *server = user;
    http_request *request = *context;
    if (!request)
        return begin(server, conn, url, method, context);
    if (*upload_size)
        return http_body_take(request, upload, upload_size);
    if (!http_body_end(request))
        return http_body_refuse(request);
    if (!request->held && !request->status) {
        request->held = true;
        server->handler(request, server->user);
    }
    if (request->status)
        return http_request_queue(request);
    http_request_suspend(request);
    return MHD_YES;
}

static void on_completed(void *user, struct MHD_Connection *conn, void **context,
                         enum MHD_RequestTerminationCode code) {
    (void)user;
    http_request *request = *context;
    bool complete = code == MHD_REQUEST_TERMINATED_COMPLETED_OK;
    *context = NULL;
    if (!request)
        return;
    if (complete && request->streaming)
        MHD_set_connection_option(conn, MHD_CONNECTION_OPTION_TIMEOUT, (unsigned)IDLE_SECONDS);
    http_request_complete(request, complete);
}

static void on_connection(void *user, struct MHD_Connection *conn, void **context,
                          enum MHD_ConnectionNotificationCode code) {
    http_server *server = user;
    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
        const union MHD_ConnectionInfo *info =
            MHD_get_connection_info(conn, MHD_CONNECTION_INFO_CONNECTION_FD);
        struct http_connection *from = server->connections;
        while (info && from && from->fd != info->connect_fd)
            from = from->next;
        *context = from;
        return;
    }
    struct http_connection *from = *context;
    *context = NULL;
    for (struct http_connection **at = &server->connections; from && *at; at = &(*at)->next) {
        if (*at == from) {
            *at = from->next;
            free(from);
            return;
        }
    }
}

static int hex_digit(char c) {
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Decodes %XX in place. %00 stays as it is: a NUL byte would hide what follows it in a C string. */
static size_t unescape(void *user, struct MHD_Connection *conn, char *text) {
    (void)user, (void)conn;
    char *to = text;
    for (const char *from = text; *from;) {
        int high = *from == '%' ? hex_digit(from[1]) : -1;
        int low = high >= 0 ? hex_digit(from[2]) : -1;
        if (low >= 0 && (high || low)) {
            *to++ = (char)(high * 16 + low);
            from += 3;
        } else {
            *to++ = *from++;
        }
    }
    *to = '\0';
    return (size_t)(to - text);
}

http_server *http_server_new(struct ev_loop *loop, http_handler *handler, void *user,
                             size_t max_body) {
    http_server *server = calloc(1, sizeof *server);
    if (!server)
        return NULL;
    server->loop = loop;
    server->handler = handler;
    server->user = user;
    server->max_body = max_body;
    server->daemon = MHD_start_daemon(
        MHD_USE_NO_LISTEN_SOCKET | MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME, 0, NULL, NULL,
        on_request, server, MHD_OPTION_NOTIFY_COMPLETED, on_completed, server,
        MHD_OPTION_NOTIFY_CONNECTION, on_connection, server, MHD_OPTION_UNESCAPE_CALLBACK, unescape,
        NULL, MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_MEMORY,
        MHD_OPTION_CONNECTION_LIMIT, (unsigned)MAX_CONNECTIONS, MHD_OPTION_CONNECTION_TIMEOUT,
        (unsigned)IDLE_SECONDS, MHD_OPTION_SIGPIPE_HANDLED_BY_APP, 1, MHD_OPTION_END);
    const union MHD_DaemonInfo *info =
        server->daemon ? MHD_get_daemon_info(server->daemon, MHD_DAEMON_INFO_EPOLL_FD) : NULL;
    if (!info) {
        if (server->daemon)
            MHD_stop_daemon(server->daemon);
        free(server);
        return NULL;
    }
    ev_io_init(&server->epoll_io, on_epoll_ready, info->epoll_fd, EV_READ);
    ev_timer_init(&server->timer, on_timer, 0.0, 0.0);
    ev_timer_init(&server->look, on_look, 0.0, 0.0);
    ev_idle_init(&server->work, on_work);
    ev_set_priority(&server->work, EV_MINPRI);
    server->epoll_io.data = server->timer.data = server->look.data = server->work.data = server;
    ev_io_start(loop, &server->epoll_io);
    return server;
}

void http_server_on_head(http_server *server, http_head_handler *fn) {
    server->on_head = fn;
}

/* Requests that are not answered yet stay valid for their holders; nothing is called for them. */
void http_server_free(http_server *server) {
    if (!server)
        return;
    for (http_request *request = server->requests; request; request = request->next) {
        request->gone = true;
        request->on_gone = NULL;
        request->stream.on_drain = NULL;
        http_request_resume(request);
    }
    ev_io_stop(server->loop, &server->epoll_io);
    MHD_stop_daemon(server->daemon);
    ev_timer_stop(server->loop, &server->timer);
    ev_timer_stop(server->loop, &server->look);
    ev_clear_pending(server->loop, &server->work);
    free(server);
}

static bool has_unread(const struct http_connection *connection) {
    char byte;
    return recv(connection->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) > 0;
}

void http_server_traffic(const http_server *server, bool *heard, bool *under_way) {
    for (const struct http_connection *at = server->connections; at; at = at->next) {
        if (at->request)
            *under_way = true;
        else if (has_unread(at))
            *heard = true;
    }
}

void http_server_close_idle(http_server *server) {
    for (struct http_connection *at = server->connections; at; at = at->next) {
        if (!at->request && at->served && !has_unread(at))
            shutdown(at->fd, SHUT_RDWR);
    }
}

void http_server_woke(http_server *server) {
    for (http_request *request = server->requests; request; request = request->next) {
        if (!request->conn || request->suspended || request->streaming)
            continue;
        /* Going from no limit to one, libmicrohttpd counts from now. */
        MHD_set_connection_option(request->conn, MHD_CONNECTION_OPTION_TIMEOUT, 0U);
        MHD_set_connection_option(request->conn, MHD_CONNECTION_OPTION_TIMEOUT,
                                  (unsigned)IDLE_SECONDS);
    }
}

int http_server_add(http_server *server, int fd, void *tag) {
    struct http_connection *from = malloc(sizeof *from);
    struct sockaddr_storage peer = {.ss_family = AF_UNIX};
    socklen_t length = sizeof peer;
    if (!from) {
        close(fd);
        return -1;
    }
    if (getpeername(fd, (struct sockaddr *)&peer, &length) || length < sizeof(sa_family_t)) {
        peer.ss_family = AF_UNIX;
        length = sizeof(sa_family_t);
    }
    *from = (struct http_connection){.next = server->connections, .fd = fd, .tag = tag};
    server->connections = from;
    if (MHD_add_connection(server->daemon, fd, (struct sockaddr *)&peer, length) != MHD_YES) {
        /* libmicrohttpd has closed the descriptor, and freed `from` when it got as far as
         * notifying. */
        if (server->connections == from) {
            server->connections = from->next;
            free(from);
        }
        return -1;
    }
    http_server_due(server);
    return 0;
}
