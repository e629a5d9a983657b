/*
 * exchange.h - one HTTP request and its answer, on a loop.
 *
 * Made, described, started; then exactly one call of `done` from the loop, unless it is freed
 * before. A request to the local engine that finds no engine starts one and is sent again, once.
 */
#ifndef STEPBOX_CORE_EXCHANGE_H
#define STEPBOX_CORE_EXCHANGE_H

#include "address.h"
#include "buffer.h"
#include "config.h"
#include "local_socket.h"
#include "loop.h"

#include <jansson.h>

/* An answer that is kept whole may have this many bytes; of one that says what failed, less is
 * kept. */
#define SBI_MAX_ANSWER (8u * 1024 * 1024)
#define SBI_MAX_COMPLAINT (64u * 1024)

enum sbi_exchange_state {
    SBI_EXCHANGE_NEW,
    SBI_EXCHANGE_TRANSFER,
    SBI_EXCHANGE_ENGINE,  /* waits for the local engine to start */
    SBI_EXCHANGE_BACKOFF, /* too many connections wait at the engine: tries again soon */
    SBI_EXCHANGE_DONE
};

struct sbi_exchange;

/* How a streamed answer (status 200, or 206 when a range was asked for) is taken; called inside
 * libcurl, so it starts and frees nothing. */
struct sbi_stream {
    /* 0, or -1 with err: the exchange ends with that. */
    int (*data)(void *user, const char *bytes, size_t length, sb_error *err);
    /* True while no more should be read; then sbi_exchange_resume() when that has changed. */
    bool (*is_full)(void *user);
};

#define SBI_SOURCE_WAIT (-2)

/* How a request's body is given as it is sent; called inside libcurl, so it starts and frees
 * nothing. */
struct sbi_source {
    /* Puts at most `size` bytes and returns how many; 0: that was all; SBI_SOURCE_WAIT: there are
     * none yet, then sbi_exchange_more() when that has changed; -1 with err: the exchange ends with
     * that. */
    ssize_t (*read)(void *user, char *bytes, size_t size, sb_error *err);
};

struct sbi_exchange {
    /* Set between making and starting: */
    void (*done)(void *user, struct sbi_exchange *exchange);
    const struct sbi_stream *stream; /* NULL: the answer is kept whole */
    const struct sbi_source *source; /* set by sbi_exchange_set_source() */
    void *user;
    double timeout;         /* seconds; INFINITY: none */
    double idle_timeout;    /* seconds without a byte moving, but for pauses; 0: no such limit */
    double connect_timeout; /* seconds, of each try to connect */
    bool timeout_ends_at_answer; /* the timeout is for the headers, the body may take any time */
    bool may_start_engine;
    bool once;          /* the request must not reach the server twice */
    bool is_to_sandbox; /* and not to the control plane */

    /* To read when done: */
    sb_error error;       /* of the transfer; its code is SB_OK when an answer came whole */
    bool was_cut;         /* the connection broke after it stood */
    int status;           /* HTTP, 0: none */
    bool has_engine_gone; /* nobody listens at the local engine's socket */
    bool has_head;        /* the headers came to their end */
    bool is_framed;       /* the answer said where its end is, so a whole one is whole */
    char content_type[64];
    char content_range[64]; /* "" when there was none */
    char *next_token;       /* of the list; NULL: none */
    struct sbi_buffer answer;

    /* Inside: */
    sb_loop *loop;
    struct sbi_config *config;
    enum sbi_exchange_state state;
    CURL *easy;
    struct curl_slist *headers;
    char *body; /* the request's */
    struct sbi_dial dial;
    struct sbi_timer deadline, again, idle;
    bool is_paused, is_draining, engine_was_started;
    bool is_source_paused;
    int spare_fd;     /* of an exchange with a source: a duplicate of its connection's, or -1 */
    int64_t moved_at; /* sbi_now() when bytes had moved last, as far as was looked at */
    curl_off_t moved; /* bytes, both ways */
    struct sbi_engine_start *engine_start; /* while it waits there */
    struct sbi_exchange *next_waiting;
    char complaint[CURL_ERROR_SIZE]; /* libcurl's */
};

struct sbi_exchange *sbi_exchange_new(sb_loop *loop, struct sbi_config *config, sb_error *err);

/* Where to: the control plane, or a port of a sandbox. method is a static string. */
int sbi_exchange_to_control(struct sbi_exchange *exchange, const char *method, const char *path,
                            sb_error *err);
int sbi_exchange_to_sandbox(struct sbi_exchange *exchange, const struct sbi_address *address,
                            int port, const char *method, const char *path, sb_error *err);

/* Takes the reference to body, which may be NULL for lack of memory. */
int sbi_exchange_set_json(struct sbi_exchange *exchange, json_t *body, sb_error *err);
/* Takes malloc()ed bytes. */
int sbi_exchange_set_body(struct sbi_exchange *exchange, char *body, size_t length,
                          const char *content_type, sb_error *err);
int sbi_exchange_add_header(struct sbi_exchange *exchange, const char *line, sb_error *err);
/* A body that is read as it is sent, with exchange->user. length -1: not known. (exchange_source.c)
 */
int sbi_exchange_set_source(struct sbi_exchange *exchange, const struct sbi_source *source,
                            int64_t length, const char *content_type, sb_error *err);

int sbi_exchange_start(struct sbi_exchange *exchange, sb_error *err);

/* Reads on after is_full(). May call stream->data(). */
void sbi_exchange_resume(struct sbi_exchange *exchange);

/* Reads on from the source after SBI_SOURCE_WAIT. May call source->read(). */
void sbi_exchange_more(struct sbi_exchange *exchange);

/* Moves the deadline to so many seconds from now, unless it is nearer. */
void sbi_exchange_end_within(struct sbi_exchange *exchange, double seconds);

/* Ends the transfer without a call of done; what had arrived is given to the stream first. */
void sbi_exchange_abort(struct sbi_exchange *exchange);
void sbi_exchange_free(struct sbi_exchange *exchange); /* aborts; NULL is allowed */

/* The answer of a whole exchange: 0 for a 2xx, else -1 with what failed (exchange_answer.c). */
int sbi_exchange_check(const struct sbi_exchange *exchange, sb_error *err);
/* The answer's JSON, a new reference, or NULL with err. */
json_t *sbi_exchange_json(const struct sbi_exchange *exchange, sb_error *err);

/* One line of an answer's head, and bytes of a body that is kept; 0, or -1: it is too much. */
void sbi_exchange_take_header(struct sbi_exchange *exchange, const char *line, size_t length);
int sbi_exchange_keep(struct sbi_exchange *exchange, const char *bytes, size_t length);

/* For an answer that comes in the middle of a body and is followed by the connection's end, which
 * libcurl, still sending, notices first (exchange_late.c). _watch: from when the connection stands;
 * _take: true when there was such an answer. */
void sbi_exchange_late_prepare(struct sbi_exchange *exchange);
void sbi_exchange_late_watch(struct sbi_exchange *exchange);
bool sbi_exchange_late_take(struct sbi_exchange *exchange);
void sbi_exchange_late_end(struct sbi_exchange *exchange);

/* Watches idle_timeout, from now on (exchange_idle.c). */
void sbi_exchange_watch_idle(struct sbi_exchange *exchange);
/* Ends it, from a timer: "`what` within `seconds` s". */
void sbi_exchange_time_out(struct sbi_exchange *exchange, const char *what, double seconds);

/* Called by the loop, and by the start of an engine (err NULL: it runs). */
void sbi_exchange_finished(struct sbi_exchange *exchange, CURLcode result);
void sbi_exchange_engine_ready(struct sbi_exchange *exchange, const sb_error *err);

#endif
