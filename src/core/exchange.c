#include "exchange.h"

#include "engine_start.h"
#include "sigpipe.h"
#include "timestamp.h"
#include "transfer_error.h"
#include "wire.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define BACKOFF_SECONDS 0.005

static void on_deadline(void *user);
static void on_again(void *user);

struct sbi_exchange *sbi_exchange_new(sb_loop *loop, struct sbi_config *config, sb_error *err) {
    struct sbi_exchange *exchange = calloc(1, sizeof *exchange);
    CURL *easy = exchange != NULL ? sbi_loop_take_handle(loop) : NULL;
    if (easy == NULL) {
        free(exchange);
        sbi_no_memory(err);
        return NULL;
    }
    exchange->loop = loop;
    exchange->config = sbi_config_keep(config);
    exchange->easy = easy;
    exchange->spare_fd = -1;
    exchange->timeout = config->request_timeout;
    exchange->connect_timeout = config->request_timeout;
    exchange->deadline.fire = on_deadline;
    exchange->deadline.user = exchange;
    exchange->again.fire = on_again;
    exchange->again.user = exchange;
    sbi_buffer_init(&exchange->answer, SBI_MAX_ANSWER);
    return exchange;
}

static void set_method(struct sbi_exchange *exchange, const char *method) {
    if (strcmp(method, "GET") != 0) {
        curl_easy_setopt(exchange->easy, CURLOPT_CUSTOMREQUEST, method);
    }
    exchange->once = strcmp(method, "POST") == 0;
    if (exchange->once || strcmp(method, "PUT") == 0) {
        /* An empty body, until one is set. */
        curl_easy_setopt(exchange->easy, CURLOPT_POSTFIELDSIZE, 0L);
        curl_easy_setopt(exchange->easy, CURLOPT_POSTFIELDS, "");
    }
}

int sbi_exchange_to_control(struct sbi_exchange *exchange, const char *method, const char *path,
                            sb_error *err) {
    set_method(exchange, method);
    return sbi_wire_control(exchange->config, path, exchange->easy, &exchange->headers, err);
}

int sbi_exchange_to_sandbox(struct sbi_exchange *exchange, const struct sbi_address *address,
                            int port, const char *method, const char *path, sb_error *err) {
    set_method(exchange, method);
    exchange->is_to_sandbox = true;
    return sbi_wire_sandbox(exchange->config, address, port, path, exchange->easy,
                            &exchange->headers, err);
}

int sbi_exchange_set_json(struct sbi_exchange *exchange, json_t *body, sb_error *err) {
    char *text = body != NULL ? json_dumps(body, JSON_COMPACT) : NULL;
    json_decref(body);
    if (text == NULL) {
        return sbi_no_memory(err);
    }
    return sbi_exchange_set_body(exchange, text, strlen(text), "application/json", err);
}

int sbi_exchange_set_body(struct sbi_exchange *exchange, char *body, size_t length,
                          const char *content_type, sb_error *err) {
    free(exchange->body);
    exchange->body = body;
    curl_easy_setopt(exchange->easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)length);
    curl_easy_setopt(exchange->easy, CURLOPT_POSTFIELDS, body);
    return sbi_wire_header(&exchange->headers, err, "Content-Type: %s", content_type);
}

int sbi_exchange_add_header(struct sbi_exchange *exchange, const char *line, sb_error *err) {
    return sbi_wire_header(&exchange->headers, err, "%s", line);
}

static size_t on_header(char *line, size_t size, size_t count, void *user) {
    sbi_exchange_take_header(user, line, size * count);
    return size * count;
}

static size_t on_body(char *bytes, size_t size, size_t count, void *user) {
    struct sbi_exchange *exchange = user;
    size_t length = size * count;
    if (exchange->stream == NULL || (exchange->status != 200 && exchange->status != 206)) {
        return sbi_exchange_keep(exchange, bytes, length) == 0 ? length : CURL_WRITEFUNC_ERROR;
    }
    if (!exchange->is_draining && exchange->stream->is_full(exchange->user)) {
        exchange->is_paused = true;
        return CURL_WRITEFUNC_PAUSE;
    }
    exchange->is_paused = false;
    if (exchange->stream->data(exchange->user, bytes, length, &exchange->error) != 0) {
        exchange->error.status = exchange->status;
        return CURL_WRITEFUNC_ERROR;
    }
    return length;
}

static void set_options(struct sbi_exchange *exchange) {
    CURL *easy = exchange->easy;
    sbi_wire_transport(exchange->config, easy);
    exchange->dial.once = exchange->once;
    sbi_dial_apply(&exchange->dial, exchange->config, easy);
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, exchange->headers);
    curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, on_header);
    curl_easy_setopt(easy, CURLOPT_HEADERDATA, exchange);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_body);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, exchange);
    curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, exchange->complaint);
    curl_easy_setopt(easy, CURLOPT_PRIVATE, exchange);
    /* Deadlines are the loop's; libcurl's own default of 300 s for connecting would be too long. */
    double connect = exchange->connect_timeout < 300 ? exchange->connect_timeout : 300;
    curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, (long)(connect * 1000) + 1);
}

static int send_request(struct sbi_exchange *exchange, sb_error *err) {
    exchange->state = SBI_EXCHANGE_TRANSFER;
    exchange->dial.failure = 0;
    exchange->dial.fd = -1;
    exchange->complaint[0] = '\0';
    CURLMcode result = curl_multi_add_handle(exchange->loop->multi, exchange->easy);
    if (result != CURLM_OK) {
        exchange->state = SBI_EXCHANGE_DONE;
        return sbi_fail(err, SB_SYSTEM, "libcurl: %s", curl_multi_strerror(result));
    }
    return 0;
}

static void set_deadline(struct sbi_exchange *exchange) {
    sbi_loop_set_timer(exchange->loop, &exchange->deadline, sbi_deadline(exchange->timeout));
}

int sbi_exchange_start(struct sbi_exchange *exchange, sb_error *err) {
    /* No waiting for "100 Continue" before a large body. */
    if (sbi_exchange_add_header(exchange, "Expect:", err) != 0) {
        return -1;
    }
    set_options(exchange);
    set_deadline(exchange);
    sbi_exchange_watch_idle(exchange);
    return send_request(exchange, err);
}

static void leave_multi(struct sbi_exchange *exchange) {
    if (exchange->state == SBI_EXCHANGE_TRANSFER) {
        /* May write: a TLS session says goodbye. */
        struct sbi_sigpipe held;
        sbi_sigpipe_hold(&held, !exchange->config->local);
        curl_multi_remove_handle(exchange->loop->multi, exchange->easy);
        sbi_sigpipe_release(&held);
    }
}

static void unset_timers(struct sbi_exchange *exchange) {
    sbi_loop_unset_timer(exchange->loop, &exchange->deadline);
    sbi_loop_unset_timer(exchange->loop, &exchange->again);
    sbi_loop_unset_timer(exchange->loop, &exchange->idle);
}

static void conclude(struct sbi_exchange *exchange) {
    unset_timers(exchange);
    exchange->state = SBI_EXCHANGE_DONE;
    exchange->done(exchange->user, exchange);
}

void sbi_exchange_finished(struct sbi_exchange *exchange, CURLcode result) {
    leave_multi(exchange);
    exchange->is_paused = false;
    sbi_dial_explain(&exchange->dial, result);
    int failure = exchange->dial.failure;
    if (failure == EAGAIN) {
        exchange->state = SBI_EXCHANGE_BACKOFF;
        sbi_loop_set_timer(exchange->loop, &exchange->again, sbi_deadline(BACKOFF_SECONDS));
        return;
    }
    if (failure == ENOENT || failure == ECONNREFUSED) {
        exchange->has_engine_gone = true;
        if (exchange->may_start_engine && !exchange->engine_was_started) {
            exchange->engine_was_started = true;
            exchange->state = SBI_EXCHANGE_ENGINE;
            /* The start has a bound of its own; the request's time begins when it is sent. */
            sbi_loop_unset_timer(exchange->loop, &exchange->deadline);
            sbi_engine_start_join(exchange->loop, exchange);
            return;
        }
    }
    if (result == CURLE_OK && !exchange->has_head) {
        /* Some versions of libcurl take an end within the headers for the end of an empty answer.
         */
        result = CURLE_PARTIAL_FILE;
    }
    if (result != CURLE_OK && !sbi_exchange_late_take(exchange)) {
        sbi_transfer_error(exchange, result);
    }
    conclude(exchange);
}

void sbi_exchange_engine_ready(struct sbi_exchange *exchange, const sb_error *err) {
    exchange->engine_start = NULL;
    if (err != NULL) {
        exchange->error = *err;
        conclude(exchange);
        return;
    }
    exchange->has_engine_gone = false;
    set_deadline(exchange);
    if (send_request(exchange, &exchange->error) != 0) {
        conclude(exchange);
    }
}

static void on_again(void *user) {
    struct sbi_exchange *exchange = user;
    if (send_request(exchange, &exchange->error) != 0) {
        conclude(exchange);
    }
}

/* Lets libcurl hand out what it holds back since the stream was full. */
static void drain(struct sbi_exchange *exchange) {
    if (exchange->state == SBI_EXCHANGE_TRANSFER && exchange->is_paused) {
        exchange->is_draining = true;
        exchange->is_paused = false;
        curl_easy_pause(exchange->easy, CURLPAUSE_CONT);
    }
}

void sbi_exchange_time_out(struct sbi_exchange *exchange, const char *what, double seconds) {
    drain(exchange);
    leave_multi(exchange);
    if (exchange->error.code == SB_OK) {
        sbi_fail_status(&exchange->error, SB_TIMEOUT, exchange->status, "%s within %g s", what,
                        seconds);
    }
    conclude(exchange);
}

static void on_deadline(void *user) {
    struct sbi_exchange *exchange = user;
    sbi_exchange_time_out(exchange, "no answer", exchange->timeout);
}

void sbi_exchange_resume(struct sbi_exchange *exchange) {
    if (exchange->state == SBI_EXCHANGE_TRANSFER && exchange->is_paused &&
        !sbi_loop_is_foreign(exchange->loop)) {
        struct sbi_sigpipe held;
        exchange->is_paused = false;
        sbi_sigpipe_hold(&held, !exchange->config->local);
        curl_easy_pause(exchange->easy, CURLPAUSE_CONT);
        sbi_sigpipe_release(&held);
    }
}

void sbi_exchange_end_within(struct sbi_exchange *exchange, double seconds) {
    int64_t soon = sbi_deadline(seconds);
    if (!exchange->deadline.set || exchange->deadline.due > soon) {
        sbi_loop_set_timer(exchange->loop, &exchange->deadline, soon);
    }
}

void sbi_exchange_abort(struct sbi_exchange *exchange) {
    drain(exchange);
    leave_multi(exchange);
    if (exchange->state == SBI_EXCHANGE_ENGINE) {
        sbi_engine_start_leave(exchange);
    }
    unset_timers(exchange);
    exchange->state = SBI_EXCHANGE_DONE;
}

void sbi_exchange_free(struct sbi_exchange *exchange) {
    if (exchange == NULL) {
        return;
    }
    if (sbi_loop_is_foreign(exchange->loop)) {
        /* Shared with the parent: the handle and what it points to stay. */
        return;
    }
    if (exchange->state != SBI_EXCHANGE_DONE && exchange->state != SBI_EXCHANGE_NEW) {
        sbi_exchange_abort(exchange);
    } else {
        unset_timers(exchange); /* of one that could not be sent */
    }
    sbi_loop_return_handle(exchange->loop, exchange->easy);
    curl_slist_free_all(exchange->headers);
    sbi_exchange_late_end(exchange);
    free(exchange->body);
    free(exchange->next_token);
    sbi_buffer_free(&exchange->answer);
    sbi_config_release(exchange->config);
    free(exchange);
}
