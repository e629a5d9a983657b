/* forward.c - the forward userdata, and the methods of a box that are about ports. */
#include "binding.h"

#include <stdlib.h>
#include <string.h>

struct lua_forward {
    sb_forward *forward; /* NULL: closed */
};

static struct lua_forward *forward_check(lua_State *L) {
    return luaL_checkudata(L, 1, FORWARD_TYPE);
}

/* __gc, __close and :close(): waits for a thread that ends at once, never calls Lua, never raises
 * on a forward, safe to call twice. */
static int forward_close(lua_State *L) {
    struct lua_forward *self = forward_check(L);
    sb_forward *forward = self->forward;
    self->forward = NULL;
    sb_forward_free(forward);
    return 0;
}

static int forward_index(lua_State *L) {
    struct lua_forward *self = forward_check(L);
    if (lua_type(L, 2) == LUA_TSTRING && strcmp(lua_tostring(L, 2), "port") == 0) {
        if (self->forward)
            lua_pushinteger(L, sb_forward_port(self->forward));
        else
            lua_pushnil(L);
        return 1;
    }
    luaL_getmetatable(L, FORWARD_TYPE);
    lua_getfield(L, -1, "methods");
    lua_pushvalue(L, 2);
    lua_rawget(L, -2);
    return 1;
}

static int forward_tostring(lua_State *L) {
    struct lua_forward *self = forward_check(L);
    if (self->forward)
        lua_pushfstring(L, "stepbox.forward 127.0.0.1:%d", sb_forward_port(self->forward));
    else
        lua_pushliteral(L, "stepbox.forward (closed)");
    return 1;
}

/* A number that no port can be stays one when it becomes an int. */
static int port_argument(lua_State *L, int index) {
    double number = luaL_checknumber(L, index);
    return number >= 0 && number <= 65536 ? (int)number : -1;
}

/* box:port_host(port) -> string | nil, message, code */
static int box_port_host(lua_State *L) {
    struct lua_box *self = box_check(L);
    int port = port_argument(L, 2);
    if (!self->box)
        return box_closed(L);
    char name[512]; /* no Lua error may come while the core's string is ours */
    sb_error err;
    char *host = sb_box_host(self->box, port, &err);
    if (!host)
        return push_failure(L, &err);
    size_t length = strnlen(host, sizeof name - 1);
    memcpy(name, host, length);
    free(host);
    lua_pushlstring(L, name, length);
    return 1;
}

/* box:open_forward(port, local_port or nil) -> forward | nil, message, code */
static int box_open_forward(lua_State *L) {
    struct lua_box *self = box_check(L);
    int port = port_argument(L, 2), local_port = lua_isnoneornil(L, 3) ? 0 : port_argument(L, 3);
    if (!self->box)
        return box_closed(L);
    struct lua_forward *forward = compat_newuserdata(L, sizeof *forward);
    forward->forward = NULL;
    luaL_getmetatable(L, FORWARD_TYPE);
    lua_setmetatable(L, -2);
    sb_error err;
    forward->forward = sb_forward_new(self->box, port, local_port, &err);
    return forward->forward ? 1 : push_failure(L, &err);
}

void forward_register(lua_State *L) {
    static const luaL_Reg meta[] = {{"__gc", forward_close},
                                    {"__close", forward_close},
                                    {"__index", forward_index},
                                    {"__tostring", forward_tostring},
                                    {NULL, NULL}};
    static const luaL_Reg methods[] = {{"close", forward_close}, {NULL, NULL}};
    static const luaL_Reg of_box[] = {
        {"port_host", box_port_host}, {"open_forward", box_open_forward}, {NULL, NULL}};
    register_type(L, FORWARD_TYPE, meta, methods);
    add_methods(L, BOX_TYPE, of_box);
}
