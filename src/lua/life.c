/* life.c - boxes that stand still for a while, and snapshots of their files: more methods of boxes
 * and clients. */
#include "binding.h"

/* box:start_pause() */
static int box_pause(lua_State *L) {
    struct lua_box *self = box_check(L);
    if (!self->box)
        return box_closed(L);
    struct lua_op *op = op_new(L, self->client, OP_VALUE_FLAG);
    sb_error err;
    return op_started(L, op, sb_box_pause(self->box, &err), &err);
}

/* box:start_resume(seconds to live, 0: the server's default) */
static int box_resume(lua_State *L) {
    struct lua_box *self = box_check(L);
    double timeout = luaL_checknumber(L, 2);
    if (!self->box)
        return box_closed(L);
    struct lua_op *op = op_new(L, self->client, OP_VALUE_FLAG);
    sb_error err;
    return op_started(L, op, sb_box_resume(self->box, timeout, &err), &err);
}

/* box:start_snapshot(name or nil) -> JSON text */
static int box_snapshot(lua_State *L) {
    struct lua_box *self = box_check(L);
    const char *name = luaL_optstring(L, 2, NULL);
    if (!self->box)
        return box_closed(L);
    struct lua_op *op = op_new(L, self->client, OP_VALUE_JSON);
    sb_error err;
    return op_started(L, op, sb_box_snapshot(self->box, name, &err), &err);
}

/* client:start_snapshots(id of a sandbox or nil) -> JSON text */
static int client_snapshots(lua_State *L) {
    struct client_owner *client = client_check(L, 1);
    const char *sandbox = luaL_optstring(L, 2, NULL);
    struct lua_op *op = op_new(L, client, OP_VALUE_JSON);
    sb_error err;
    return op_started(L, op, sb_snapshots(client->client, sandbox, &err), &err);
}

static int client_delete_snapshot(lua_State *L) {
    struct client_owner *client = client_check(L, 1);
    const char *id = luaL_checkstring(L, 2);
    struct lua_op *op = op_new(L, client, OP_VALUE_TRUE);
    sb_error err;
    return op_started(L, op, sb_delete_snapshot(client->client, id, &err), &err);
}

void life_register(lua_State *L) {
    static const luaL_Reg of_box[] = {{"start_pause", box_pause},
                                      {"start_resume", box_resume},
                                      {"start_snapshot", box_snapshot},
                                      {NULL, NULL}};
    static const luaL_Reg of_client[] = {{"start_snapshots", client_snapshots},
                                         {"start_delete_snapshot", client_delete_snapshot},
                                         {NULL, NULL}};
    add_methods(L, CLIENT_TYPE, of_client);
    add_methods(L, BOX_TYPE, of_box);
}
