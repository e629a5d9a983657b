/*
 * control_plane.h - the API that makes and ends sandboxes: from a request to the operation that
 * answers it.
 */
#ifndef STEPBOX_CONTROL_PLANE_H
#define STEPBOX_CONTROL_PLANE_H

#include "api_error.h"
#include "engine.h"
#include "fields.h"
#include "route.h"

/* One request on its way to an operation. Valid only until the operation returns. */
struct api_call {
    struct engine *engine;
    http_request *request;
    enum transport transport;
    int version;           /* of the API: 1, or 2 for /v2/... */
    char id[ROUTE_ID_MAX]; /* the sandbox in the path, or "" */
};

/* An operation answers the request, now or later. */
typedef void api_operation(const struct api_call *call);

/* The http_head_handler, which sees to who may ask, and the http_handler; user is the engine. */
void control_plane_head(http_request *request, void *user);
void control_plane_handle(http_request *request, void *user);

/* The sandbox of the path. When there is none, answers 404 and returns NULL. */
struct sandbox *api_sandbox(const struct api_call *call);

/* The same, and answers 409 when it is paused. */
struct sandbox *api_running_sandbox(const struct api_call *call);

/* The body, checked. When it is wrong, answers 400 and returns NULL. A new reference. */
json_t *api_body(const struct api_call *call, const struct field_rule *rules, bool optional);

/* Answers 404 for a sandbox. */
void api_no_sandbox(http_request *request, const char *id);

/* Lets a sandbox that is not running go on, and answers 201 with what a client needs. */
void api_resume(const struct api_call *call, struct sandbox *sandbox, int seconds);

/* Answers 204. */
void api_done(http_request *request);

/* A pidfd of the client, for its lease. When that cannot be had, answers 400 and returns -1. */
int api_lease_holder(const struct api_call *call);

/* op_*.c */
api_operation op_health, op_create, op_list, op_get, op_delete, op_timeout, op_refresh, op_connect,
    op_pause, op_resume, op_snapshot, op_snapshot_list, op_snapshot_delete, op_lease_take,
    op_lease_release, op_logs, op_network, op_metrics, op_metrics_of_many, op_engine,
    op_engine_stop;

#endif
