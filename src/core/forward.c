#include "box.h"
#include "error.h"
#include "forward_thread.h"
#include "loop.h"
#include "thread.h"
#include "timestamp.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/* For all threads to end, when the process does. */
#define EXIT_SECONDS 2.0

struct sb_forward {
    pid_t pid; /* the process that has the thread */
    struct sbi_forward_service service;
    int port;
    pthread_t thread;
    bool has_ended; /* joined, or left alone; under the list's lock */
    struct sb_forward *next, **link;
};

/* The forwards of this process: at its exit their threads end before the TLS library cleans up. */
static struct {
    pthread_mutex_t lock;
    struct sb_forward *first;
} list = {.lock = PTHREAD_MUTEX_INITIALIZER};

static pthread_once_t once = PTHREAD_ONCE_INIT;

static void wake(struct sb_forward *forward) {
    uint64_t one = 1;
    while (write(forward->service.wake_fd, &one, sizeof one) < 0 && errno == EINTR) {
    }
}

/* A process that wants to end must not hang: threads that do not end in time are left alone. */
static void end_all_at_exit(void) {
    struct timespec pause = {.tv_nsec = 1000 * 1000};
    int64_t deadline = sbi_deadline(EXIT_SECONDS);
    pthread_mutex_lock(&list.lock);
    for (struct sb_forward *forward = list.first; forward != NULL; forward = forward->next) {
        wake(forward);
    }
    for (struct sb_forward *forward = list.first; forward != NULL; forward = forward->next) {
        while (pthread_tryjoin_np(forward->thread, NULL) == EBUSY && sbi_now() < deadline) {
            nanosleep(&pause, NULL);
        }
        forward->has_ended = true; /* as far as anybody may still care */
    }
    pthread_mutex_unlock(&list.lock);
}

/* The parent's threads are not here, and its lock may be held for ever. */
static void forget_in_child(void) {
    pthread_mutex_init(&list.lock, NULL);
    list.first = NULL;
}

static void set_up_once(void) {
    pthread_atfork(NULL, NULL, forget_in_child);
    /* After libcurl's initialisation: handlers run in reverse order. */
    atexit(end_all_at_exit);
}

static void add_to_list(struct sb_forward *forward) {
    pthread_mutex_lock(&list.lock);
    forward->next = list.first;
    forward->link = &list.first;
    if (forward->next != NULL) {
        forward->next->link = &forward->next;
    }
    list.first = forward;
    pthread_mutex_unlock(&list.lock);
}

static void remove_from_list(struct sb_forward *forward) {
    pthread_mutex_lock(&list.lock);
    if (!forward->has_ended) {
        *forward->link = forward->next;
        if (forward->next != NULL) {
            forward->next->link = forward->link;
        }
    }
    pthread_mutex_unlock(&list.lock);
}

/* Listens on 127.0.0.1, and learns the port. */
static int start_listening(struct sb_forward *forward, int local_port, sb_error *err) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)local_port)};
    socklen_t length = sizeof address;
    int one = 1, fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    forward->service.listen_fd = fd;
    if (fd >= 0) {
        setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    }
    if (fd < 0 || bind(fd, (struct sockaddr *)&address, length) != 0 ||
        listen(fd, SOMAXCONN) != 0 || getsockname(fd, (struct sockaddr *)&address, &length) != 0) {
        return sbi_fail(err, SB_SYSTEM, "127.0.0.1:%d: %s", local_port, strerror(errno));
    }
    forward->port = ntohs(address.sin_port);
    return 0;
}

static int start(struct sb_forward *forward, int local_port, sb_error *err) {
    if (start_listening(forward, local_port, err) != 0) {
        return -1;
    }
    forward->service.wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (forward->service.wake_fd < 0) {
        return sbi_fail(err, SB_SYSTEM, "eventfd: %s", strerror(errno));
    }
    int failure = sbi_thread_start(&forward->thread, sbi_forward_serve, &forward->service);
    if (failure != 0) {
        return sbi_fail(err, SB_SYSTEM, "cannot start a thread: %s", strerror(failure));
    }
    pthread_once(&once, set_up_once);
    add_to_list(forward);
    return 0;
}

static void close_descriptors(struct sb_forward *forward) {
    if (forward->service.listen_fd >= 0) {
        close(forward->service.listen_fd);
    }
    if (forward->service.wake_fd >= 0) {
        close(forward->service.wake_fd);
    }
}

static void release(struct sb_forward *forward) {
    close_descriptors(forward);
    sbi_forward_target_free(&forward->service.target);
    free(forward);
}

static int check(const sb_box *box, int local_port, sb_error *err) {
    if (sbi_loop_check(box->loop, err) != 0) {
        return -1;
    }
    if (box->is_closed) {
        return sbi_fail(err, SB_CLOSED, "the box is closed");
    }
    if (local_port < 0 || local_port > 65535) {
        return sbi_fail(err, SB_INVALID, "local_port: must be from 1 to 65535, or 0 for any");
    }
    return 0;
}

sb_forward *sb_forward_new(sb_box *box, int port, int local_port, sb_error *err) {
    if (check(box, local_port, err) != 0) {
        return NULL;
    }
    struct sb_forward *forward = calloc(1, sizeof *forward);
    if (forward == NULL) {
        sbi_no_memory(err);
        return NULL;
    }
    forward->pid = getpid();
    forward->service.listen_fd = forward->service.wake_fd = -1;
    if (sbi_forward_target_init(&forward->service.target, box->config, &box->address, port, err) !=
            0 ||
        start(forward, local_port, err) != 0) {
        release(forward);
        return NULL;
    }
    return forward;
}

int sb_forward_port(const sb_forward *forward) {
    return forward->port;
}

void sb_forward_free(sb_forward *forward) {
    if (forward == NULL) {
        return;
    }
    if (forward->pid != getpid()) {
        /* The thread is the parent's, and may have been changing what it has as we forked. */
        close_descriptors(forward);
        return;
    }
    remove_from_list(forward);
    if (!forward->has_ended) {
        /* Also where a copy of the descriptor lives on in a process that forked: nobody accepts. */
        shutdown(forward->service.listen_fd, SHUT_RDWR);
        wake(forward);
        pthread_join(forward->thread, NULL);
    }
    release(forward);
}
