#include "creation.h"

#include <stdlib.h>
#include <unistd.h>

/* Seconds for a client whose connection broke to ask again under the same key. */
#define RETURN_SECONDS 1.5

struct waiting_request {
    struct waiting_request *next;
    struct creation *creation;
    http_request *request;
    bool gone;
};

struct creation {
    struct engine *engine;
    struct sandbox *sandbox;    /* until it has started */
    struct keyed_create *keyed; /* NULL: without a key */
    struct waiting_request *waiting;
    json_t *answer;     /* when it has started */
    ev_timer abandoned; /* active: nobody waits */
};

static const char nobody_waits[] = "the client that asked for it has gone";

static int add_request(struct creation *creation, http_request *request) {
    struct waiting_request *waiting = malloc(sizeof *waiting);
    if (!waiting)
        return -1;
    *waiting = (struct waiting_request){creation->waiting, creation, request, false};
    creation->waiting = waiting;
    ev_timer_stop(creation->engine->loop, &creation->abandoned);
    return 0;
}

/* Answers all and frees it: with its answer, or for want of one with an error. */
static void finish(struct creation *creation, int status, const char *message) {
    struct engine *engine = creation->engine;
    ev_timer_stop(engine->loop, &creation->abandoned);
    while (creation->waiting) {
        struct waiting_request *waiting = creation->waiting;
        creation->waiting = waiting->next;
        http_request_on_gone(waiting->request, NULL, NULL);
        if (creation->answer)
            http_reply_json(waiting->request, 201, json_incref(creation->answer));
        else
            api_error(waiting->request, status, "%s", message);
        free(waiting);
    }
    if (creation->keyed && creation->answer)
        idempotency_settle(creation->keyed, json_incref(creation->answer));
    else if (creation->keyed)
        idempotency_forget(engine->idempotency, creation->keyed);
    json_decref(creation->answer);
    free(creation);
}

/* Nobody else would ever learn its id. */
static void end_abandoned(struct creation *creation) {
    if (!creation->answer) {
        sandbox_end(creation->sandbox, nobody_waits, NULL, NULL);
        return; /* on_started() follows */
    }
    const char *id = json_string_value(json_object_get(creation->answer, "sandboxID"));
    struct sandbox *sandbox = sandboxes_find(creation->engine->sandboxes, id);
    if (sandbox)
        sandbox_end(sandbox, nobody_waits, NULL, NULL);
    json_decref(creation->answer);
    creation->answer = NULL;
    finish(creation, 503, nobody_waits);
}

static void on_abandoned(struct ev_loop *loop, ev_timer *timer, int events) {
    (void)loop, (void)events;
    end_abandoned(timer->data);
}

/* Under a key, the same client may ask again. */
static void on_client_gone(void *user) {
    struct waiting_request *gone = user;
    struct creation *creation = gone->creation;
    gone->gone = true;
    for (const struct waiting_request *waiting = creation->waiting; waiting;
         waiting = waiting->next)
        if (!waiting->gone)
            return;
    if (creation->keyed)
        ev_timer_start(creation->engine->loop, &creation->abandoned);
    else
        end_abandoned(creation);
}

static void on_started(struct sandbox *sandbox, int status, const char *message, void *user) {
    struct creation *creation = user;
    creation->sandbox = NULL;
    if (sandbox) {
        creation->answer =
            sandbox_record_created(sandbox_record_of(sandbox), &creation->engine->host);
        if (!creation->answer) {
            sandbox_end(sandbox, "the client cannot be told of it", NULL, NULL);
            status = 503;
            message = "out of memory";
        } else if (ev_is_active(&creation->abandoned)) {
            return; /* it stays under way until somebody asks again, or nobody has */
        }
    }
    finish(creation, status, message);
}

static struct creation *make(const struct api_call *call, const char *key, json_t *body) {
    struct creation *creation = calloc(1, sizeof *creation);
    if (!creation)
        return NULL;
    creation->engine = call->engine;
    ev_timer_init(&creation->abandoned, on_abandoned, RETURN_SECONDS, 0.0);
    creation->abandoned.data = creation;
    if (key) {
        creation->keyed = idempotency_add(call->engine->idempotency, call->transport, key,
                                          call->version, body, creation);
        if (!creation->keyed) {
            free(creation);
            return NULL;
        }
    }
    return creation;
}

void creation_begin(const struct api_call *call, const sandbox_request *wanted, const char *key,
                    json_t *body) {
    struct creation *creation = make(call, key, body);
    int status = 503;
    char message[1024] = "out of memory";
    if (!creation || add_request(creation, call->request) < 0) {
        if (wanted->lease_fd >= 0)
            close(wanted->lease_fd);
        api_error(call->request, status, "%s", message);
        if (creation)
            finish(creation, status, message);
        return;
    }
    creation->sandbox = sandbox_create(call->engine->sandboxes, wanted, on_started, creation,
                                       &status, message, sizeof message);
    if (creation->sandbox)
        http_request_on_gone(call->request, on_client_gone, creation->waiting);
    else
        finish(creation, status, message);
}

void creation_join(const struct api_call *call, struct keyed_create *known) {
    struct creation *creation = known->under_way;
    if (!creation)
        http_reply_json(call->request, 201, json_incref(known->answer));
    else if (add_request(creation, call->request) < 0)
        api_error(call->request, 503, "out of memory");
    else if (creation->answer)
        finish(creation, 201, NULL);
    else
        http_request_on_gone(call->request, on_client_gone, creation->waiting);
}
