/* box.c - the sandbox userdata. lua/stepbox/box.lua adds the public methods to its method table. */
#include "binding.h"

#include <math.h>
#include <string.h>

struct lua_box *box_new(lua_State *L, struct client_owner *client) {
    struct lua_box *self = compat_newuserdata(L, sizeof *self);
    *self = (struct lua_box){0};
    luaL_getmetatable(L, BOX_TYPE);
    lua_setmetatable(L, -2);
    self->client = client;
    client->references++;
    return self;
}

/* __gc, __close and :close(): never blocks, never calls Lua, never raises on a box, safe to call
 * twice. The handle goes; if it owns its sandbox, the reaper thread kills that. */
static int box_close(lua_State *L) {
    struct lua_box *self = luaL_checkudata(L, 1, BOX_TYPE);
    sb_box *box = self->box;
    struct client_owner *client = self->client;
    self->box = NULL;
    self->client = NULL;
    sb_box_free(box);
    client_owner_release(client);
    return 0;
}

struct lua_box *box_check(lua_State *L) {
    return luaL_checkudata(L, 1, BOX_TYPE);
}

int box_closed(lua_State *L) {
    sb_error err = {.code = SB_CLOSED, .message = "the box is closed"};
    return push_failure(L, &err);
}

typedef sb_op *simple_start(sb_box *box, sb_error *err);

static int start(lua_State *L, simple_start *fn, enum op_value value) {
    struct lua_box *self = box_check(L);
    if (!self->box)
        return box_closed(L);
    struct lua_op *op = op_new(L, self->client, value);
    sb_error err;
    return op_started(L, op, fn(self->box, &err), &err);
}

static int box_kill(lua_State *L) {
    return start(L, sb_box_kill, OP_VALUE_TRUE);
}

static int box_detach(lua_State *L) {
    return start(L, sb_box_detach, OP_VALUE_TRUE);
}

static int box_info(lua_State *L) {
    return start(L, sb_box_info, OP_VALUE_INFO);
}

static int box_is_running(lua_State *L) {
    return start(L, sb_box_is_running, OP_VALUE_FLAG);
}

/* box:start_set_timeout(seconds) */
static int box_set_timeout(lua_State *L) {
    struct lua_box *self = box_check(L);
    double seconds = luaL_checknumber(L, 2);
    if (!self->box)
        return box_closed(L);
    struct lua_op *op = op_new(L, self->client, OP_VALUE_TRUE);
    sb_error err;
    return op_started(L, op, sb_box_set_timeout(self->box, seconds, &err), &err);
}

/* box:start_step(code, {language, context, envs, timeout, max_output, events}) */
static int box_step(lua_State *L) {
    struct lua_box *self = box_check(L);
    size_t length;
    const char *code = luaL_checklstring(L, 2, &length);
    luaL_checktype(L, 3, LUA_TTABLE);
    luaL_checkstack(L, 8, NULL);
    sb_step_options options = {0};
    options.language = field_string(L, 3, "language");
    options.context = field_string(L, 3, "context");
    options.timeout = field_number(L, 3, "timeout", 0);
    options.max_output = (uint64_t)fmin(field_number(L, 3, "max_output", 0), 9e15);
    options.events = field_boolean(L, 3, "events") == 1;
    options.envs = field_pairs(L, 3, "envs", &options.env_count);
    if (!self->box)
        return box_closed(L);
    struct lua_op *op = op_new(L, self->client, OP_VALUE_EXECUTION);
    sb_error err;
    return op_started(L, op, sb_step(self->box, code, length, &options, &err), &err);
}

static int box_index(lua_State *L) {
    struct lua_box *self = box_check(L);
    if (lua_type(L, 2) == LUA_TSTRING) {
        const char *key = lua_tostring(L, 2);
        if (strcmp(key, "id") == 0) {
            if (self->box)
                lua_pushstring(L, sb_box_id(self->box));
            else
                lua_pushnil(L);
            return 1;
        }
        if (strcmp(key, "closed") == 0) {
            lua_pushboolean(L, !self->box || sb_box_closed(self->box));
            return 1;
        }
        if (strcmp(key, "owned") == 0) {
            lua_pushboolean(L, self->box && sb_box_owns(self->box));
            return 1;
        }
    }
    luaL_getmetatable(L, BOX_TYPE);
    lua_getfield(L, -1, "methods");
    lua_pushvalue(L, 2);
    lua_rawget(L, -2);
    if (!lua_isnil(L, -1))
        return 1;
    /* What lua/stepbox makes for a box when it is asked for: box.files and the like. */
    lua_getfield(L, -3, "properties");
    lua_pushvalue(L, 2);
    lua_rawget(L, -2);
    if (lua_isnil(L, -1))
        return 1;
    lua_pushvalue(L, 1);
    lua_call(L, 1, 1);
    return 1;
}

static int box_tostring(lua_State *L) {
    struct lua_box *self = box_check(L);
    if (!self->box)
        lua_pushliteral(L, "stepbox.box (closed)");
    else if (sb_box_closed(self->box))
        lua_pushfstring(L, "stepbox.box %s (closed)", sb_box_id(self->box));
    else
        lua_pushfstring(L, "stepbox.box %s%s", sb_box_id(self->box),
                        sb_box_owns(self->box) ? " (owned)" : "");
    return 1;
}

void box_register(lua_State *L) {
    static const luaL_Reg meta[] = {{"__gc", box_close},
                                    {"__close", box_close},
                                    {"__index", box_index},
                                    {"__tostring", box_tostring},
                                    {NULL, NULL}};
    static const luaL_Reg methods[] = {{"start_kill", box_kill},
                                       {"start_detach", box_detach},
                                       {"start_info", box_info},
                                       {"start_is_running", box_is_running},
                                       {"start_set_timeout", box_set_timeout},
                                       {"start_step", box_step},
                                       {NULL, NULL}};
    register_type(L, BOX_TYPE, meta, methods);
    luaL_getmetatable(L, BOX_TYPE);
    lua_getfield(L, -1, "properties");
    if (lua_isnil(L, -1)) {
        lua_newtable(L);
        lua_setfield(L, -3, "properties");
    }
    lua_pop(L, 2);
}
