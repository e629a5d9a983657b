/* Bodies of requests that are read as they are sent. */
#include "exchange.h"

#include "sigpipe.h"
#include "wire.h"

/* What libcurl reads at once; its own bounds are 16 KiB and 2 MiB. */
#define MAX_UPLOAD_BUFFER (2 * 1024 * 1024)
#define MIN_UPLOAD_BUFFER (64 * 1024)

static size_t on_read(char *bytes, size_t size, size_t count, void *user) {
    struct sbi_exchange *exchange = user;
    sbi_exchange_late_watch(exchange);
    ssize_t length = exchange->source->read(exchange->user, bytes, size * count, &exchange->error);
    if (length == SBI_SOURCE_WAIT) {
        exchange->is_source_paused = true;
        return CURL_READFUNC_PAUSE;
    }
    if (length < 0) {
        exchange->error.status = exchange->status;
        return CURL_READFUNC_ABORT;
    }
    return (size_t)length;
}

int sbi_exchange_set_source(struct sbi_exchange *exchange, const struct sbi_source *source,
                            int64_t length, const char *content_type, sb_error *err) {
    CURL *easy = exchange->easy;
    long buffer = length < 0 || length > MAX_UPLOAD_BUFFER ? MAX_UPLOAD_BUFFER : (long)length;
    exchange->source = source;
    sbi_exchange_late_prepare(exchange);
    curl_easy_setopt(easy, CURLOPT_POSTFIELDS, NULL);
    curl_easy_setopt(easy, CURLOPT_POST, 1L);
    curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)length);
    curl_easy_setopt(easy, CURLOPT_READFUNCTION, on_read);
    curl_easy_setopt(easy, CURLOPT_READDATA, exchange);
    curl_easy_setopt(easy, CURLOPT_UPLOAD_BUFFERSIZE,
                     buffer < MIN_UPLOAD_BUFFER ? MIN_UPLOAD_BUFFER : buffer);
    if (length < 0 && sbi_wire_header(&exchange->headers, err, "Transfer-Encoding: chunked") != 0) {
        return -1;
    }
    return sbi_wire_header(&exchange->headers, err, "Content-Type: %s", content_type);
}

void sbi_exchange_more(struct sbi_exchange *exchange) {
    if (exchange->state == SBI_EXCHANGE_TRANSFER && exchange->is_source_paused &&
        !sbi_loop_is_foreign(exchange->loop)) {
        struct sbi_sigpipe held;
        exchange->is_source_paused = false;
        sbi_sigpipe_hold(&held, !exchange->config->local);
        curl_easy_pause(exchange->easy, CURLPAUSE_CONT);
        sbi_sigpipe_release(&held);
    }
}
