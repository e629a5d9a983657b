/* module.c - luaopen_stepbox_core: the table that lua/stepbox builds on. */
#include "binding.h"

void register_type(lua_State *L, const char *type, const luaL_Reg *meta, const luaL_Reg *methods) {
    if (!luaL_newmetatable(L, type)) { /* loaded again into the same state: what lives goes on */
        lua_pop(L, 1);
        return;
    }
    compat_setfuncs(L, meta);
    lua_newtable(L);
    compat_setfuncs(L, methods);
    lua_pushvalue(L, -1);
    lua_setfield(L, -3, "methods");
    lua_getfield(L, -2, "__index");
    if (lua_isnil(L, -1)) {
        lua_pushvalue(L, -2);
        lua_setfield(L, -4, "__index");
    }
    lua_pop(L, 3);
}

/* The table of a type's methods, or of its properties, to which lua/stepbox adds its own. */
static void push_members(lua_State *L, const char *type, const char *kind) {
    luaL_getmetatable(L, type);
    lua_getfield(L, -1, kind);
    lua_remove(L, -2);
}

void add_methods(lua_State *L, const char *type, const luaL_Reg *methods) {
    luaL_getmetatable(L, type);
    lua_getfield(L, -1, "methods");
    compat_setfuncs(L, methods);
    lua_pop(L, 2);
}

static const luaL_Reg functions[] = {
    {"loop", loop_create},
    {"client", client_create},
    {NULL, NULL},
};

SB_API int luaopen_stepbox_core(lua_State *L);

SB_API int luaopen_stepbox_core(lua_State *L) {
    loop_register(L);
    client_register(L);
    box_register(L);
    contexts_register(L);
    process_register(L);
    op_register(L);
    files_register(L);
    transfers_register(L);
    watch_register(L);
    forward_register(L);
    engine_register(L);
    life_register(L);
    network_register(L);
    lua_newtable(L);
    compat_setfuncs(L, functions);
    push_members(L, BOX_TYPE, "methods");
    lua_setfield(L, -2, "box_methods");
    push_members(L, BOX_TYPE, "properties");
    lua_setfield(L, -2, "box_properties");
    lua_pushliteral(L, SB_VERSION);
    lua_setfield(L, -2, "version");
    /* What JSON's null becomes, the same value that lua-cjson uses. */
    lua_pushlightuserdata(L, NULL);
    lua_setfield(L, -2, "null");
    return 1;
}
