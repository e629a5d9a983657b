/*
 * stepbox.h - isolated sandboxes for code that nobody vouches for, from C.
 *
 * Everything that talks to an engine is an operation (sb_op): started here, driven by one loop
 * (sb_loop), and finished when sb_op_done() says so. A host that wants to block calls sb_op_wait();
 * a host with a loop of its own polls sb_loop_fd() and calls sb_loop_step(loop, 0, ...). Nothing
 * here runs a callback.
 *
 * Threads: a loop and all that was made from it belong to one thread at a time.
 * Units: seconds (double, fractions allowed, rounded up to what the wire takes), bytes, Unix
 * seconds. Errors: every fallible function takes `sb_error *err` last (may be NULL), and returns
 * NULL or -1. Strings: bytes with a length where code or output is meant, else NUL-terminated
 * UTF-8. What a getter of an operation returns belongs to the operation and lives until
 * sb_op_free().
 *
 *     sb_error err;
 *     sb_loop *loop = sb_loop_new(&err);
 *     sb_client *client = sb_client_new(loop, NULL, &err);       // NULL: from the environment
 *     sb_op *op = sb_create(client, NULL, &err);
 *     if (sb_op_wait(op, &err) == 0) {
 *         sb_box *box = sb_op_take_box(op);
 *         sb_op *step = sb_step(box, "6 * 7", 5, NULL, &err);
 *         if (sb_op_wait(step, &err) == 0)
 *             puts(sb_execution_text(sb_op_execution(step)));    // 42
 *         sb_op_free(step);
 *         sb_box_free(box);                                      // owning: the sandbox is killed
 *     }
 *     sb_op_free(op);
 *     sb_client_free(client);
 *     sb_loop_free(loop);
 */
#ifndef STEPBOX_H
#define STEPBOX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SB_VERSION "0.1.0"
#if defined(__GNUC__)
#define SB_API __attribute__((visibility("default")))
#else
#define SB_API
#endif

/* --- errors
 * ------------------------------------------------------------------------------------------ */

/* What went wrong, as a short stable list. sb_code_name() gives the string that Lua sees. */
typedef enum sb_code {
    SB_OK = 0,
    SB_INVALID,       /* "invalid": the call or the server's 400 says that an argument is wrong */
    SB_TIMEOUT,       /* "timeout": a deadline passed (step, request) */
    SB_NOT_FOUND,     /* "not_found": no such sandbox, snapshot, context, file or program */
    SB_CLOSED,        /* "closed": this handle was closed or killed by its owner */
    SB_UNAUTHORIZED,  /* "unauthorized": 401, 403 */
    SB_RATE_LIMITED,  /* "rate_limited": 429 */
    SB_UNAVAILABLE,   /* "unavailable": no engine or server there, or it answers 5xx */
    SB_PROTOCOL,      /* "protocol": the server answered something that is not the protocol */
    SB_SANDBOX_LOST,  /* "sandbox_lost": this box's sandbox is gone, or went away meanwhile */
    SB_CONTEXT_LOST,  /* "context_lost": the runner died; the next step starts afresh */
    SB_CANCELLED,     /* "cancelled": sb_op_cancel() */
    SB_UNSUPPORTED,   /* "unsupported": this server does not offer that (language, feature) */
    SB_SETUP_FAILED,  /* "setup_failed": a setup command exited non-zero; the sandbox was killed */
    SB_TOO_LARGE,     /* "too_large": a reply or a line over the bound */
    SB_SYSTEM,        /* "system": memory, descriptors, threads, spawning */
    SB_IS_DIRECTORY,  /* "is_directory": a file was wanted */
    SB_NOT_DIRECTORY, /* "not_directory": a directory was wanted */
    SB_EXISTS,        /* "exists" */
    SB_NO_SPACE,      /* "no_space": no room on the sandbox's disk, or for a snapshot */
    SB_PERMISSION,    /* "permission": the sandbox's user may not do that */
    SB_BAD_PATH,      /* "bad_path": no path, or not one that can be (too long, a loop of links) */
    SB_PROCESS_GONE   /* "process_gone": no such process in the sandbox (any more) */
} sb_code;

typedef struct sb_error {
    sb_code code;
    int status;        /* HTTP status, 0 when none was received */
    char message[512]; /* "outer: inner", UTF-8, never empty when code is set */
} sb_error;

SB_API const char *sb_code_name(sb_code code);

/* --- the loop
 * ---------------------------------------------------------------------------------------- */

typedef struct sb_loop sb_loop;
typedef struct sb_client sb_client;
typedef struct sb_box sb_box;
typedef struct sb_op sb_op;

/* A loop: curl multi, epoll and a timerfd behind one descriptor. Free with sb_loop_free(). */
SB_API sb_loop *sb_loop_new(sb_error *err);

/* Frees the loop; operations, boxes and clients made from it must be freed before. Waits at most
 * five seconds for kills that sb_box_free() handed to the reaper thread, and a second for those of
 * processes whose operations were cancelled. */
SB_API void sb_loop_free(sb_loop *loop);

/* One descriptor that is readable (POLLIN) whenever sb_loop_step() has work, deadlines included. */
SB_API int sb_loop_fd(const sb_loop *loop);

/* Does what is due, waiting at most `timeout` seconds for the first event (0: do not wait;
 * negative: for ever). Returns 0, or -1 with err. EINTR is handled inside. */
SB_API int sb_loop_step(sb_loop *loop, double timeout, sb_error *err);

/* The next operation that has news (an event to read, or done) since it was last returned here, or
 * NULL. */
SB_API sb_op *sb_loop_ready(sb_loop *loop);

/* --- operations
 * -------------------------------------------------------------------------------------- */

SB_API bool sb_op_done(const sb_op *op);

/* After done: SB_OK or what failed, copied to *err. */
SB_API sb_code sb_op_error(const sb_op *op, sb_error *err);

/* Drives the loop until op is done. 0, or -1 with the operation's error. */
SB_API int sb_op_wait(sb_op *op, sb_error *err);

/* Ends op now with SB_CANCELLED; what arrived stays readable. A running step's code is interrupted.
 */
SB_API void sb_op_cancel(sb_op *op);

/* Frees op and all it gave out; cancels it first when it is not done. NULL is allowed. */
SB_API void sb_op_free(sb_op *op);

/* Waits for so many seconds, while the loop's other operations go on. */
SB_API sb_op *sb_sleep(sb_loop *loop, double seconds, sb_error *err);

SB_API void sb_op_set_user(sb_op *op, void *user);
SB_API void *sb_op_user(const sb_op *op);

/* --- clients
 * ----------------------------------------------------------------------------------------- */

typedef struct sb_pair {
    const char *name;
    const char *value;
} sb_pair;

/* Where to find sandboxes. Zero everything, then set what differs. A NULL field falls back to the
 * environment: E2B_API_KEY, E2B_DOMAIN, E2B_API_URL, E2B_SANDBOX_URL (E2B's own names),
 * STEPBOX_SOCKET, STEPBOX_ENGINE. With neither key, domain nor URL the client uses the local
 * engine, and starts it. */
typedef struct sb_client_options {
    const char *api_key;
    const char *domain;      /* default "e2b.app" */
    const char *api_url;     /* default https://api.DOMAIN */
    const char *sandbox_url; /* one address for all sandboxes, told apart by headers */
    const char *proxy;       /* as curl takes it */
    const char *ca_file;     /* PEM bundle to trust instead of the system's */
    const char *socket;      /* the local engine's unix socket */
    const char *engine;      /* path of stepboxd, to start it */
    const sb_pair *headers;  /* added to each request */
    size_t header_count;
    double request_timeout; /* one HTTP exchange, default 60 */
} sb_client_options;

SB_API sb_client *sb_client_new(sb_loop *loop, const sb_client_options *options, sb_error *err);
SB_API void sb_client_free(sb_client *client);
SB_API bool sb_client_is_local(const sb_client *client);

/* --- sandboxes
 * --------------------------------------------------------------------------------------- */

/* What a sandbox may take of its host; 0: what the server gives. The local engine alone takes them
 * at create: elsewhere a template has its limits, and others end with SB_UNSUPPORTED. */
typedef struct sb_limits {
    double memory; /* bytes, rounded up to mebibytes; the sandbox's files are in its memory */
    double cpus;   /* 0.5: half of one */
    double disk;   /* bytes, rounded up to mebibytes */
    uint32_t processes;
    uint32_t open_files; /* of each process */
    double output;       /* bytes of each step and command, rounded up to mebibytes */
} sb_limits;

typedef struct sb_create_options {
    const char *template_id; /* default "code-interpreter-v1" */
    double timeout;          /* the sandbox's life, default 300 */
    const sb_pair *envs;
    size_t env_count;
    const sb_pair *metadata;
    size_t metadata_count;
    const char *const *setup; /* shell commands, run in order in the foreground */
    size_t setup_count;
    sb_limits limits;
    int allow_internet;               /* 0: the server's default, 1: yes, -1: no */
    const struct sb_network *network; /* see stepbox_network.h; NULL: the server's default */
    bool auto_pause;                  /* when its life is over it is paused instead of killed */
    const char *idempotency_key; /* the same request under the same key makes no second one; NULL:
                                    the library's own */
    bool auto_resume;            /* and goes on when somebody connects to one of its ports */
    double request_timeout;      /* 0: the client's */
    bool events;                 /* keep the setup's output as events for sb_op_next_event() */
    bool disown;                 /* true: do not own the new sandbox */
} sb_create_options;

/* Makes a sandbox; sb_op_take_box() then gives an owning box. NULL options: defaults. If a setup
 * command fails the sandbox is killed and the operation ends with SB_SETUP_FAILED (see
 * sb_op_command()). */
SB_API sb_op *sb_create(sb_client *client, const sb_create_options *options, sb_error *err);

typedef struct sb_connect_options {
    double timeout; /* 0: leave the lease alone; else extend it to at least that from now, never
                       shorten */
    double request_timeout;
    bool own;          /* take ownership */
    bool leave_paused; /* do not have a paused one go on; not together with timeout */
} sb_connect_options;

SB_API sb_op *sb_connect(sb_client *client, const char *id, const sb_connect_options *options,
                         sb_error *err);

/* The box that a finished sb_create() or sb_connect() made; the caller's from now on (once). */
SB_API sb_box *sb_op_take_box(sb_op *op);

/* Kills by id; SB_NOT_FOUND when there is none. */
SB_API sb_op *sb_kill(sb_client *client, const char *id, sb_error *err);

typedef struct sb_list_options {
    const sb_pair *metadata; /* all must match */
    size_t metadata_count;
    const char *const *states; /* "running", "paused" */
    size_t state_count;
    int limit;              /* per page; 0: the server's default */
    const char *next_token; /* from sb_op_next_token(); NULL: the first page */
} sb_list_options;

typedef struct sb_info {
    const char *id, *template_id, *alias, *state, *envd_version, *domain; /* NULL when absent */
    double started_at, end_at;                                            /* Unix seconds */
    int64_t cpu_count, memory_mb, disk_mb;
    const sb_pair *metadata;
    size_t metadata_count;
    const char *details; /* what the local engine tells in addition, a JSON object; or NULL */
} sb_info;

SB_API sb_op *sb_list(sb_client *client, const sb_list_options *options, sb_error *err);
SB_API size_t sb_op_info_count(const sb_op *op);
SB_API const sb_info *sb_op_info(const sb_op *op, size_t index);
SB_API const char *sb_op_next_token(const sb_op *op); /* NULL on the last page */

/* --- boxes
 * ------------------------------------------------------------------------------------------- */

SB_API const char *sb_box_id(const sb_box *box);
SB_API bool sb_box_owns(const sb_box *box);
SB_API bool sb_box_closed(const sb_box *box);

/* Frees the handle without blocking. An owning box that is not closed hands its kill to the reaper
 * thread; in a process that forked after the box was made nothing is killed. NULL is allowed. */
SB_API void sb_box_free(sb_box *box);

/* Operations of a box. On a closed box each ends with SB_CLOSED. */
SB_API sb_op *sb_box_kill(sb_box *box, sb_error *err); /* closes the box at once, owning or not */
SB_API sb_op *sb_box_detach(sb_box *box,
                            sb_error *err);           /* gives up ownership; the box stays usable */
SB_API sb_op *sb_box_own(sb_box *box, sb_error *err); /* takes ownership */
SB_API sb_op *sb_box_info(sb_box *box, sb_error *err); /* then sb_op_info(op, 0) */
SB_API sb_op *sb_box_set_timeout(sb_box *box, double seconds, sb_error *err);
SB_API sb_op *sb_box_is_running(sb_box *box, sb_error *err); /* then sb_op_flag(op) */
SB_API bool sb_op_flag(const sb_op *op);

/* --- steps
 * ------------------------------------------------------------------------------------------- */

#define SB_DEFAULT_STEP_TIMEOUT 300.0
#define SB_DEFAULT_MAX_OUTPUT (32u * 1024 * 1024)

typedef struct sb_step_options {
    const char *language; /* NULL: the context's, or Python */
    const char *context;  /* id; NULL: the default context of the language */
    const sb_pair *envs;  /* for this step alone */
    size_t env_count;
    double timeout; /* this step's deadline, it alone decides; 0: 300; INFINITY: none */
    uint64_t
        max_output; /* bytes kept of stdout, and of stderr; 0: 32 MiB. More is read and dropped. */
    bool events;    /* keep what arrives as events for sb_op_next_event() */
} sb_step_options;

/* Runs code. Code that raises is a success with an error in its execution. On failure the execution
 * holds what had arrived (sb_op_execution() is never NULL for a step). */
SB_API sb_op *sb_step(sb_box *box, const char *code, size_t length, const sb_step_options *options,
                      sb_error *err);

typedef enum sb_stream { SB_STDOUT = 1, SB_STDERR = 2, SB_PTY = 3 } sb_stream;

typedef enum sb_format_kind {
    SB_FORMAT_TEXT,  /* UTF-8 text */
    SB_FORMAT_BYTES, /* decoded from base64: png, jpeg, pdf */
    SB_FORMAT_JSON   /* JSON text: json, data, chart, extra and what is not known */
} sb_format_kind;

/* One representation of a result, by the protocol's name: text, html, markdown, svg, png, jpeg,
 * pdf, latex, json, javascript, data, chart, extra. */
typedef struct sb_format {
    const char *name;
    sb_format_kind kind;
    const char *data; /* NUL-terminated behind its length */
    size_t length;
} sb_format;

typedef struct sb_result {
    const sb_format *formats;
    size_t format_count;
    bool is_main;       /* the value of the last expression, not a display() */
    size_t logs_before; /* how many of the execution's logs came before it */
} sb_result;

typedef struct sb_log {
    sb_stream stream;
    double time; /* Unix seconds, as the sandbox saw it */
    const char *data;
    size_t length;
} sb_log;

typedef struct sb_step_error {
    const char *name, *value, *traceback;
    size_t name_length, value_length, traceback_length;
} sb_step_error;

typedef struct sb_execution {
    const char *out; /* all of stdout, NUL-terminated behind its length */
    size_t out_length;
    const char *err; /* all of stderr */
    size_t err_length;
    const sb_log *logs;
    size_t log_count;
    const sb_result *results;
    size_t result_count;
    const sb_step_error *error; /* NULL unless the code raised */
    int64_t execution_count;    /* -1 when the server did not say */
    double duration;            /* seconds from the start of the request to its end */
    bool out_truncated, err_truncated;
    uint64_t dropped; /* bytes that the server dropped beyond the sandbox's limit of output */
    bool restarted;   /* the context started afresh before this step */
} sb_execution;

SB_API const sb_execution *sb_op_execution(const sb_op *op);

/* The text of the main result, or NULL. */
SB_API const char *sb_execution_text(const sb_execution *execution);

typedef enum sb_event_type {
    SB_EVENT_OUTPUT, /* of a step or a command */
    SB_EVENT_RESULT, /* of a step */
    SB_EVENT_ERROR,  /* of a step */
    SB_EVENT_DATA,   /* of a file that is read */
    SB_EVENT_FILE    /* of a watch */
} sb_event_type;

struct sb_file_event;

typedef struct sb_event {
    sb_event_type type;
    sb_log output;                    /* SB_EVENT_OUTPUT; SB_EVENT_DATA: its data and length */
    const sb_result *result;          /* SB_EVENT_RESULT */
    const sb_step_error *error;       /* SB_EVENT_ERROR */
    const struct sb_file_event *file; /* SB_EVENT_FILE */
} sb_event;

/* The next event in order, or NULL when none is waiting (then look at sb_op_done()). Valid until
 * the next call. Output beyond max_output still comes as events. A reader that lags stops the
 * transfer, not the process: at most 1 MiB waits here. */
SB_API const sb_event *sb_op_next_event(sb_op *op);

#ifdef __cplusplus
}
#endif

#include "stepbox_contexts.h"
#include "stepbox_engine.h"
#include "stepbox_files.h"
#include "stepbox_life.h"
#include "stepbox_network.h"
#include "stepbox_ports.h"
#include "stepbox_process.h"

#endif
