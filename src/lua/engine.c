/* engine.c - calls of the local engine itself and of a sandbox's log: more methods of clients and
 * boxes. */
#include "binding.h"

#include <math.h>

/* client:start_engine_status(may_start) -> JSON text */
static int engine_status(lua_State *L) {
    struct client_owner *client = client_check(L, 1);
    bool may_start = lua_toboolean(L, 2);
    struct lua_op *op = op_new(L, client, OP_VALUE_JSON);
    sb_error err;
    return op_started(L, op, sb_engine_status(client->client, may_start, &err), &err);
}

/* client:start_engine_stop(force) -> JSON text */
static int engine_stop(lua_State *L) {
    struct client_owner *client = client_check(L, 1);
    bool force = lua_toboolean(L, 2);
    struct lua_op *op = op_new(L, client, OP_VALUE_JSON);
    sb_error err;
    return op_started(L, op, sb_engine_stop(client->client, force, &err), &err);
}

/* box:start_logs({cursor (milliseconds), limit, backward, level, search}) -> JSON text */
static int box_logs(lua_State *L) {
    struct lua_box *self = box_check(L);
    luaL_checktype(L, 2, LUA_TTABLE);
    luaL_checkstack(L, 8, NULL);
    sb_logs_options options = {0};
    options.cursor = (int64_t)fmin(field_number(L, 2, "cursor", 0), 9e15);
    options.limit = (int)fmin(field_number(L, 2, "limit", 0), 1e6);
    options.backward = field_boolean(L, 2, "backward") == 1;
    options.level = field_string(L, 2, "level");
    options.search = field_string(L, 2, "search");
    if (!self->box)
        return box_closed(L);
    struct lua_op *op = op_new(L, self->client, OP_VALUE_JSON);
    sb_error err;
    return op_started(L, op, sb_box_logs(self->box, &options, &err), &err);
}

/* box:start_metrics({start, end_}) -> JSON text */
static int box_metrics(lua_State *L) {
    struct lua_box *self = box_check(L);
    luaL_checktype(L, 2, LUA_TTABLE);
    sb_metrics_options options = {0};
    options.start = (int64_t)fmin(field_number(L, 2, "start", 0), 9e15);
    options.end = (int64_t)fmin(field_number(L, 2, "end_", 0), 9e15);
    if (!self->box)
        return box_closed(L);
    struct lua_op *op = op_new(L, self->client, OP_VALUE_JSON);
    sb_error err;
    return op_started(L, op, sb_box_metrics(self->box, &options, &err), &err);
}

/* Adds to the table of methods of a type. */
void engine_register(lua_State *L) {
    static const luaL_Reg of_client[] = {
        {"start_engine_status", engine_status}, {"start_engine_stop", engine_stop}, {NULL, NULL}};
    static const luaL_Reg of_box[] = {
        {"start_logs", box_logs}, {"start_metrics", box_metrics}, {NULL, NULL}};
    add_methods(L, CLIENT_TYPE, of_client);
    add_methods(L, BOX_TYPE, of_box);
}
