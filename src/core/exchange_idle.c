/* A limit for transfers that stand still, however long those that move may take. */
#include "exchange.h"

#include "timestamp.h"

/* How often it is looked whether bytes have moved: a transfer ends at most this part late. */
#define LOOKS 8

static curl_off_t bytes_moved(const struct sbi_exchange *exchange) {
    curl_off_t up = 0, down = 0;
    curl_easy_getinfo(exchange->easy, CURLINFO_SIZE_UPLOAD_T, &up);
    curl_easy_getinfo(exchange->easy, CURLINFO_SIZE_DOWNLOAD_T, &down);
    return up + down;
}

static void look_again(struct sbi_exchange *exchange) {
    sbi_loop_set_timer(exchange->loop, &exchange->idle,
                       sbi_deadline(exchange->idle_timeout / LOOKS));
}

static void on_idle(void *user) {
    struct sbi_exchange *exchange = user;
    int64_t now = sbi_now();
    curl_off_t moved = bytes_moved(exchange);
    /* Who waits for the host, or for an engine to start, does not wait for the server. */
    if (moved != exchange->moved || exchange->is_paused || exchange->is_source_paused ||
        exchange->state != SBI_EXCHANGE_TRANSFER) {
        exchange->moved = moved;
        exchange->moved_at = now;
    }
    if ((double)(now - exchange->moved_at) / 1e9 >= exchange->idle_timeout) {
        sbi_exchange_time_out(exchange, "no byte moved", exchange->idle_timeout);
    } else {
        look_again(exchange);
    }
}

void sbi_exchange_watch_idle(struct sbi_exchange *exchange) {
    if (exchange->idle_timeout > 0 && exchange->idle_timeout < 1e9) {
        exchange->idle.fire = on_idle;
        exchange->idle.user = exchange;
        exchange->moved_at = sbi_now();
        look_again(exchange);
    }
}
