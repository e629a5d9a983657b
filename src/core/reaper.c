#include "reaper.h"

#include "loop.h"
#include "multi.h"
#include "thread.h"
#include "timestamp.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define MAX_ATTEMPTS 3
#define ATTEMPT_SECONDS 5.0
#define RETRY_SECONDS 0.3
#define END_SECONDS 5

struct sbi_reaper {
    pthread_t thread;
    int wake_fd; /* an eventfd */
    pthread_mutex_t lock;
    pthread_cond_t has_ended; /* on the monotonic clock */
    /* Under the lock: */
    struct sbi_owned *queue_first, *queue_last;
    bool is_ending; /* no more will be queued */
    bool ended;     /* the thread is past its last use of anything but this struct */
    bool abandoned; /* nobody waits: the thread frees the struct */
    /* The thread's: */
    CURLM *multi;
    struct sbi_owned *waiting; /* for another try */
    size_t running;
};

static void free_reaper(struct sbi_reaper *reaper) {
    close(reaper->wake_fd);
    pthread_cond_destroy(&reaper->has_ended);
    pthread_mutex_destroy(&reaper->lock);
    free(reaper);
}

static void start_kill(struct sbi_reaper *reaper, struct sbi_owned *owned) {
    owned->attempts++;
    if (sbi_kill_request_start(&owned->request, reaper->multi, owned->config, owned->id,
                               ATTEMPT_SECONDS, owned) == 0) {
        reaper->running++;
    } else {
        sbi_owned_free(owned);
    }
}

static void finish_kill(struct sbi_reaper *reaper, struct sbi_owned *owned, CURLcode result) {
    bool settled = sbi_kill_request_settled(&owned->request, result);
    sbi_kill_request_end(&owned->request, reaper->multi);
    reaper->running--;
    if (settled || owned->attempts == MAX_ATTEMPTS) {
        sbi_owned_free(owned);
        return;
    }
    owned->retry_at = sbi_deadline(RETRY_SECONDS * owned->attempts);
    owned->next_queued = reaper->waiting;
    reaper->waiting = owned;
}

/* Takes what was handed over. Returns whether more may come. */
static bool take_queue(struct sbi_reaper *reaper, struct sbi_owned **queue) {
    uint64_t count;
    while (read(reaper->wake_fd, &count, sizeof count) < 0 && errno == EINTR) {
    }
    pthread_mutex_lock(&reaper->lock);
    *queue = reaper->queue_first;
    reaper->queue_first = reaper->queue_last = NULL;
    bool is_ending = reaper->is_ending;
    pthread_mutex_unlock(&reaper->lock);
    return !is_ending;
}

/* Starts what is due again; returns the milliseconds until the next is, or INT_MAX. */
static int start_retries(struct sbi_reaper *reaper) {
    int64_t now = sbi_now(), next = SBI_NEVER;
    for (struct sbi_owned **link = &reaper->waiting; *link != NULL;) {
        struct sbi_owned *owned = *link;
        if (owned->retry_at <= now) {
            *link = owned->next_queued;
            start_kill(reaper, owned);
        } else {
            next = owned->retry_at < next ? owned->retry_at : next;
            link = &owned->next_queued;
        }
    }
    return next == SBI_NEVER ? INT_MAX : (int)((next - now) / 1000000) + 1;
}

static void collect(struct sbi_reaper *reaper) {
    int left;
    CURLMsg *message;
    while ((message = curl_multi_info_read(reaper->multi, &left)) != NULL) {
        if (message->msg == CURLMSG_DONE) {
            CURLcode result = message->data.result;
            char *owned = NULL;
            curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &owned);
            finish_kill(reaper, (struct sbi_owned *)owned, result);
        }
    }
}

static void reap(struct sbi_reaper *reaper) {
    bool more = true;
    while (more || reaper->running > 0 || reaper->waiting != NULL) {
        struct sbi_owned *queue;
        more = take_queue(reaper, &queue);
        while (queue != NULL) {
            struct sbi_owned *owned = queue;
            queue = owned->next_queued;
            start_kill(reaper, owned);
        }
        int milliseconds = start_retries(reaper), running;
        curl_multi_perform(reaper->multi, &running);
        collect(reaper);
        if (!more && reaper->running == 0 && reaper->waiting == NULL) {
            break;
        }
        if (reaper->waiting != NULL && milliseconds == INT_MAX) {
            continue; /* just failed: its time is not in `milliseconds` yet */
        }
        struct curl_waitfd wake = {.fd = reaper->wake_fd, .events = CURL_WAIT_POLLIN};
        curl_multi_poll(reaper->multi, &wake, 1, milliseconds, NULL);
    }
}

static void *thread_main(void *user) {
    struct sbi_reaper *reaper = user;
    reap(reaper);
    curl_multi_cleanup(reaper->multi);
    pthread_mutex_lock(&reaper->lock);
    reaper->ended = true;
    bool abandoned = reaper->abandoned;
    pthread_cond_signal(&reaper->has_ended);
    pthread_mutex_unlock(&reaper->lock);
    if (abandoned) {
        free_reaper(reaper);
    }
    return NULL;
}

void sbi_reaper_start(struct sb_loop *loop) {
    if (loop->reaper != NULL) {
        return;
    }
    struct sbi_reaper *reaper = calloc(1, sizeof *reaper);
    if (reaper == NULL) {
        return;
    }
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&reaper->has_ended, &monotonic);
    pthread_condattr_destroy(&monotonic);
    pthread_mutex_init(&reaper->lock, NULL);
    reaper->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    reaper->multi = sbi_multi_new();
    if (reaper->wake_fd < 0 || reaper->multi == NULL ||
        sbi_thread_start(&reaper->thread, thread_main, reaper) != 0) {
        curl_multi_cleanup(reaper->multi);
        free_reaper(reaper);
        return;
    }
    loop->reaper = reaper;
}

static void wake(struct sbi_reaper *reaper) {
    uint64_t one = 1;
    while (write(reaper->wake_fd, &one, sizeof one) < 0 && errno == EINTR) {
    }
}

void sbi_reaper_kill(struct sb_loop *loop, struct sbi_owned *owned) {
    sbi_reaper_start(loop);
    struct sbi_reaper *reaper = loop->reaper;
    if (reaper == NULL) {
        /* No thread to be had. A lease or the list of this process still ends the sandbox. */
        return;
    }
    owned->next_queued = NULL;
    pthread_mutex_lock(&reaper->lock);
    *(reaper->queue_last != NULL ? &reaper->queue_last->next_queued : &reaper->queue_first) = owned;
    reaper->queue_last = owned;
    pthread_mutex_unlock(&reaper->lock);
    wake(reaper);
}

void sbi_reaper_end(struct sbi_reaper *reaper) {
    if (reaper == NULL) {
        return;
    }
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += END_SECONDS;
    pthread_mutex_lock(&reaper->lock);
    reaper->is_ending = true;
    wake(reaper);
    int failure = 0;
    while (!reaper->ended && failure == 0) {
        failure = pthread_cond_timedwait(&reaper->has_ended, &reaper->lock, &until);
    }
    reaper->abandoned = !reaper->ended;
    bool abandoned = reaper->abandoned;
    pthread_t thread = reaper->thread;
    pthread_mutex_unlock(&reaper->lock);
    if (abandoned) {
        pthread_detach(thread);
    } else {
        pthread_join(thread, NULL);
        free_reaper(reaper);
    }
}
