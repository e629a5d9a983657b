#include "loop.h"

#include "engine_start.h"
#include "exchange.h"
#include "global.h"
#include "multi.h"
#include "op.h"
#include "reaper.h"
#include "sigpipe.h"
#include "timestamp.h"
#include "unattended.h"

#include <errno.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

/* Idle connections kept; each sandbox has its own. libcurl's default follows the transfers under
 * way, which is next to nothing between the steps of many sandboxes. */
#define MAX_IDLE_CONNECTIONS 256L

#define EVENTS_PER_WAIT 64

/* How long requests that nobody waits for may take when their loop goes. */
#define UNATTENDED_SECONDS 1.0

int sbi_loop_check(const sb_loop *loop, sb_error *err) {
    if (loop->pid != getpid()) {
        return sbi_fail(err, SB_INVALID, "made in another process, before a fork");
    }
    return 0;
}

bool sbi_loop_is_foreign(const sb_loop *loop) {
    return loop->pid != getpid();
}

/* Sets the timerfd to what is due first, when that changed. */
static void arm(sb_loop *loop) {
    int64_t due = sbi_timers_due(&loop->timers);
    if (loop->curl_due < due) {
        due = loop->curl_due;
    }
    if (loop->kicked) {
        due = 1;
    }
    if (due == loop->armed) {
        return;
    }
    struct itimerspec spec = {0};
    if (due != SBI_NEVER) {
        /* A time in the past expires at once; zero would disarm. */
        int64_t at = due > 1 ? due : 1;
        spec.it_value = (struct timespec){.tv_sec = at / 1000000000, .tv_nsec = at % 1000000000};
    }
    timerfd_settime(loop->timer_fd, TFD_TIMER_ABSTIME, &spec, NULL);
    loop->armed = due;
}

static void arm_outside_step(sb_loop *loop) {
    if (!loop->stepping) {
        arm(loop);
    }
}

void sbi_loop_kick(sb_loop *loop) {
    if (!loop->stepping) {
        loop->kicked = true;
        arm(loop);
    }
}

void sbi_loop_set_timer(sb_loop *loop, struct sbi_timer *timer, int64_t due) {
    sbi_timer_set(&loop->timers, timer, due);
    arm_outside_step(loop);
}

void sbi_loop_unset_timer(sb_loop *loop, struct sbi_timer *timer) {
    sbi_timer_unset(&loop->timers, timer);
}

static int on_curl_timer(CURLM *multi, long milliseconds, void *user) {
    (void)multi;
    sb_loop *loop = user;
    loop->curl_due = milliseconds < 0 ? SBI_NEVER : sbi_now() + (int64_t)milliseconds * 1000000;
    arm_outside_step(loop);
    return 0;
}

static int on_curl_socket(CURL *easy, curl_socket_t fd, int what, void *user, void *assigned) {
    (void)easy;
    sb_loop *loop = user;
    if (what == CURL_POLL_REMOVE) {
        /* libcurl may have closed it already; then it left the set by itself. */
        epoll_ctl(loop->epoll_fd, EPOLL_CTL_DEL, fd, NULL);
        return 0;
    }
    struct epoll_event event = {.data.fd = fd};
    event.events = (what & CURL_POLL_IN ? EPOLLIN : 0) | (what & CURL_POLL_OUT ? EPOLLOUT : 0);
    if (assigned == NULL) {
        /* Any pointer marks that the set has it; libcurl forgets the mark with the socket. */
        curl_multi_assign(loop->multi, fd, loop);
    }
    int first = assigned == NULL ? EPOLL_CTL_ADD : EPOLL_CTL_MOD;
    if (epoll_ctl(loop->epoll_fd, first, fd, &event) == 0) {
        return 0;
    }
    int second = errno == EEXIST ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;
    return epoll_ctl(loop->epoll_fd, second, fd, &event) == 0 ? 0 : -1;
}

int sbi_loop_watch(sb_loop *loop, struct sbi_watch *watch) {
    struct epoll_event event = {.events = EPOLLIN, .data.fd = watch->fd};
    if (epoll_ctl(loop->epoll_fd, EPOLL_CTL_ADD, watch->fd, &event) != 0) {
        return -1;
    }
    watch->next = loop->watches;
    loop->watches = watch;
    return 0;
}

void sbi_loop_unwatch(sb_loop *loop, struct sbi_watch *watch) {
    for (struct sbi_watch **link = &loop->watches; *link != NULL; link = &(*link)->next) {
        if (*link == watch) {
            *link = watch->next;
            epoll_ctl(loop->epoll_fd, EPOLL_CTL_DEL, watch->fd, NULL);
            return;
        }
    }
}

static struct sbi_watch *find_watch(const sb_loop *loop, int fd) {
    for (struct sbi_watch *watch = loop->watches; watch != NULL; watch = watch->next) {
        if (watch->fd == fd) {
            return watch;
        }
    }
    return NULL;
}

static int open_descriptors(sb_loop *loop, sb_error *err) {
    loop->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    loop->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    struct epoll_event event = {.events = EPOLLIN, .data.fd = loop->timer_fd};
    if (loop->epoll_fd < 0 || loop->timer_fd < 0 ||
        epoll_ctl(loop->epoll_fd, EPOLL_CTL_ADD, loop->timer_fd, &event) != 0) {
        return sbi_fail(err, SB_SYSTEM, "loop: %s", strerror(errno));
    }
    return 0;
}

sb_loop *sb_loop_new(sb_error *err) {
    if (sbi_global_init(err) != 0) {
        return NULL;
    }
    sb_loop *loop = calloc(1, sizeof *loop);
    if (loop == NULL) {
        sbi_no_memory(err);
        return NULL;
    }
    loop->pid = getpid();
    loop->epoll_fd = loop->timer_fd = -1;
    loop->armed = loop->curl_due = SBI_NEVER;
    const char *trace = getenv("STEPBOX_TRACE");
    loop->trace = trace != NULL && trace[0] != '\0';
    if (open_descriptors(loop, err) != 0) {
        sb_loop_free(loop);
        return NULL;
    }
    loop->multi = sbi_multi_new();
    if (loop->multi == NULL) {
        sbi_no_memory(err);
        sb_loop_free(loop);
        return NULL;
    }
    curl_multi_setopt(loop->multi, CURLMOPT_SOCKETFUNCTION, on_curl_socket);
    curl_multi_setopt(loop->multi, CURLMOPT_SOCKETDATA, loop);
    curl_multi_setopt(loop->multi, CURLMOPT_TIMERFUNCTION, on_curl_timer);
    curl_multi_setopt(loop->multi, CURLMOPT_TIMERDATA, loop);
    curl_multi_setopt(loop->multi, CURLMOPT_MAXCONNECTS, MAX_IDLE_CONNECTIONS);
    return loop;
}

/* What a child inherited and has freed. It stays where leak checkers see it, since cleaning it up
 * would end the parent's connections. */
static _Atomic(sb_loop *) inherited;

static void keep_inherited(sb_loop *loop) {
    loop->next_inherited = atomic_load(&inherited);
    while (!atomic_compare_exchange_weak(&inherited, &loop->next_inherited, loop)) {
    }
}

static void close_descriptors(sb_loop *loop) {
    if (loop->timer_fd >= 0) {
        close(loop->timer_fd);
    }
    if (loop->epoll_fd >= 0) {
        close(loop->epoll_fd);
    }
}

static int run_once(sb_loop *loop, int64_t until, sb_error *err);

/* Kills of processes that have just been sent, or are about to be. */
static void finish_unattended(sb_loop *loop) {
    int64_t deadline = sbi_deadline(UNATTENDED_SECONDS);
    loop->stepping = true;
    while (loop->unattended != NULL && sbi_now() < deadline &&
           run_once(loop, deadline, NULL) == 0) {
    }
    loop->stepping = false;
}

void sb_loop_free(sb_loop *loop) {
    if (loop == NULL) {
        return;
    }
    if (sbi_loop_is_foreign(loop)) {
        close_descriptors(loop);
        keep_inherited(loop);
        return;
    }
    finish_unattended(loop);
    sbi_unattended_abandon(loop);
    close_descriptors(loop);
    loop->stepping = true; /* libcurl's callbacks need no timer any more */
    loop->epoll_fd = loop->timer_fd = -1;
    sbi_engine_start_abandon(loop);
    struct sbi_sigpipe held;
    sbi_sigpipe_hold(&held, loop->has_remote);
    for (size_t i = 0; i < loop->idle_count; i++) {
        curl_easy_cleanup(loop->idle[i]);
    }
    curl_multi_cleanup(loop->multi);
    sbi_sigpipe_release(&held);
    sbi_reaper_end(loop->reaper);
    free(loop);
}

int sb_loop_fd(const sb_loop *loop) {
    return loop->epoll_fd;
}

CURL *sbi_loop_take_handle(sb_loop *loop) {
    return loop->idle_count > 0 ? loop->idle[--loop->idle_count] : curl_easy_init();
}

/* Before 8.3.0 libcurl keeps a pointer to the last header of a transfer that is over: an answer on
 * the same handle that begins with a folded header line makes it write to freed memory. */
static bool may_be_used_again(void) {
    return curl_version_info(CURLVERSION_NOW)->version_num >= 0x080300;
}

void sbi_loop_return_handle(sb_loop *loop, CURL *handle) {
    if (loop->idle_count < SBI_IDLE_HANDLES && may_be_used_again()) {
        curl_easy_reset(handle);
        loop->idle[loop->idle_count++] = handle;
    } else {
        curl_easy_cleanup(handle);
    }
}

/* How long epoll may wait, in its milliseconds, rounded up so that nothing is early. */
static int wait_milliseconds(const sb_loop *loop, int64_t until) {
    int64_t due = sbi_timers_due(&loop->timers);
    if (loop->curl_due < due) {
        due = loop->curl_due;
    }
    if (until < due) {
        due = until;
    }
    if (due == SBI_NEVER) {
        return -1;
    }
    int64_t left = due - sbi_now();
    if (left <= 0 || loop->kicked) {
        return 0;
    }
    int64_t milliseconds = (left + 999999) / 1000000;
    return milliseconds < INT_MAX ? (int)milliseconds : INT_MAX;
}

static void handle_event(sb_loop *loop, const struct epoll_event *event) {
    int fd = event->data.fd;
    if (fd == loop->timer_fd) {
        /* What was due is done below in any case; disarming makes it unreadable. */
        struct itimerspec none = {0};
        timerfd_settime(loop->timer_fd, 0, &none, NULL);
        loop->armed = SBI_NEVER;
        return;
    }
    struct sbi_watch *watch = find_watch(loop, fd);
    if (watch != NULL) {
        watch->readable(watch->user);
        return;
    }
    int what = (event->events & (EPOLLIN | EPOLLHUP) ? CURL_CSELECT_IN : 0) |
               (event->events & EPOLLOUT ? CURL_CSELECT_OUT : 0) |
               (event->events & EPOLLERR ? CURL_CSELECT_ERR : 0);
    int running;
    curl_multi_socket_action(loop->multi, fd, what, &running);
}

static void handle_finished(sb_loop *loop) {
    int left;
    CURLMsg *message;
    while ((message = curl_multi_info_read(loop->multi, &left)) != NULL) {
        if (message->msg == CURLMSG_DONE) {
            CURLcode result = message->data.result;
            char *exchange = NULL;
            curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &exchange);
            sbi_exchange_finished((struct sbi_exchange *)exchange, result);
        }
    }
}

/* One round: waits (at most until `until`) and does what is due. */
static int run_once(sb_loop *loop, int64_t until, sb_error *err) {
    struct epoll_event events[EVENTS_PER_WAIT];
    int count;
    do {
        count = epoll_wait(loop->epoll_fd, events, EVENTS_PER_WAIT, wait_milliseconds(loop, until));
    } while (count < 0 && errno == EINTR);
    if (count < 0) {
        return sbi_fail(err, SB_SYSTEM, "loop: epoll_wait: %s", strerror(errno));
    }
    loop->kicked = false;
    struct sbi_sigpipe held;
    sbi_sigpipe_hold(&held, loop->has_remote);
    for (int i = 0; i < count; i++) {
        handle_event(loop, &events[i]);
    }
    if (loop->curl_due <= sbi_now()) {
        loop->curl_due = SBI_NEVER;
        int running;
        curl_multi_socket_action(loop->multi, CURL_SOCKET_TIMEOUT, 0, &running);
    }
    /* First what has ended, so that a deadline does not take what arrived in time. */
    handle_finished(loop);
    sbi_timers_fire(&loop->timers, sbi_now());
    sbi_sigpipe_release(&held);
    return 0;
}

int sb_loop_step(sb_loop *loop, double timeout, sb_error *err) {
    if (sbi_loop_check(loop, err) != 0) {
        return -1;
    }
    loop->stepping = true;
    int status = run_once(loop, timeout < 0 ? SBI_NEVER : sbi_deadline(timeout), err);
    loop->stepping = false;
    arm(loop);
    return status;
}

int sbi_loop_run(sb_loop *loop, const bool *done, sb_error *err) {
    if (sbi_loop_check(loop, err) != 0) {
        return -1;
    }
    int status = 0;
    loop->stepping = true;
    while (!*done && status == 0) {
        status = run_once(loop, SBI_NEVER, err);
    }
    loop->stepping = false;
    arm(loop);
    return status;
}

sb_op *sb_loop_ready(sb_loop *loop) {
    sb_op *op = loop->ready_first;
    if (op != NULL) {
        sbi_op_unready(op);
    }
    return op;
}
