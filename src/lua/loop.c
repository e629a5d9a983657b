/* loop.c - the loop userdata: step it, and learn which operations have news. */
#include "binding.h"

#include <stdlib.h>

struct lua_loop {
    struct loop_owner *owner;
};

void loop_owner_release(struct loop_owner *owner) {
    if (owner && --owner->references == 0) {
        sb_loop_free(owner->loop);
        free(owner);
    }
}

struct loop_owner *loop_check(lua_State *L, int index) {
    struct lua_loop *self = luaL_checkudata(L, index, LOOP_TYPE);
    luaL_argcheck(L, self->owner, index, "the loop is closed");
    return self->owner;
}

int loop_create(lua_State *L) {
    struct lua_loop *self = compat_newuserdata(L, sizeof *self);
    self->owner = NULL;
    luaL_getmetatable(L, LOOP_TYPE);
    lua_setmetatable(L, -2);
    sb_error err;
    sb_loop *loop = sb_loop_new(&err);
    if (!loop)
        return push_failure(L, &err);
    self->owner = malloc(sizeof *self->owner);
    if (!self->owner) {
        sb_loop_free(loop);
        return luaL_error(L, "out of memory");
    }
    *self->owner = (struct loop_owner){.loop = loop, .references = 1};
    return 1;
}

static int loop_close(lua_State *L) {
    struct lua_loop *self = luaL_checkudata(L, 1, LOOP_TYPE);
    struct loop_owner *owner = self->owner;
    self->owner = NULL;
    loop_owner_release(owner);
    return 0;
}

static int loop_fd(lua_State *L) {
    lua_pushinteger(L, sb_loop_fd(loop_check(L, 1)->loop));
    return 1;
}

/* loop:step(timeout in seconds; negative waits for ever) -> true | nil, message, code */
static int loop_step(lua_State *L) {
    struct loop_owner *owner = loop_check(L, 1);
    double timeout = luaL_optnumber(L, 2, 0);
    sb_error err;
    if (sb_loop_step(owner->loop, timeout, &err) != 0)
        return push_failure(L, &err);
    lua_pushboolean(L, 1);
    return 1;
}

/* loop:ready() -> the next operation with news, or nil. Its userdata is found by the address of the
 * operation in the registry's weak table (see op_new). */
static int loop_ready(lua_State *L) {
    struct loop_owner *owner = loop_check(L, 1);
    luaL_getmetatable(L, OP_TYPE);
    lua_getfield(L, -1, "live");
    for (;;) {
        sb_op *op = sb_loop_ready(owner->loop);
        if (!op) {
            lua_pushnil(L);
            return 1;
        }
        lua_pushlightuserdata(L, op);
        lua_rawget(L, -2);
        if (!lua_isnil(L, -1))
            return 1;
        lua_pop(L, 1);
    }
}

/* loop:start_sleep(seconds) */
static int loop_sleep(lua_State *L) {
    struct loop_owner *owner = loop_check(L, 1);
    double seconds = luaL_checknumber(L, 2);
    struct lua_op *op = op_new_of_loop(L, owner, OP_VALUE_TRUE);
    sb_error err;
    return op_started(L, op, sb_sleep(owner->loop, seconds, &err), &err);
}

void loop_register(lua_State *L) {
    static const luaL_Reg meta[] = {{"__gc", loop_close}, {NULL, NULL}};
    static const luaL_Reg methods[] = {{"fd", loop_fd},
                                       {"step", loop_step},
                                       {"ready", loop_ready},
                                       {"start_sleep", loop_sleep},
                                       {NULL, NULL}};
    register_type(L, LOOP_TYPE, meta, methods);
}
