/*
 * embed.c - a host program with Lua inside: opens a state, preloads stepbox and runs a script.
 *
 *     make examples && ./build/examples/embed script.lua [arguments]
 *
 * The C half of the module is linked in; the Lua half is found on package.path as always.
 */
#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>
#include <stdio.h>

int luaopen_stepbox_core(lua_State *L);

static int with_traceback(lua_State *L) {
    luaL_traceback(L, L, lua_tostring(L, 1), 1);
    return 1;
}

int main(int argc, char **argv) {
    if (argc < 2) {
        fprintf(stderr, "usage: %s script.lua [arguments]\n", argv[0]);
        return 2;
    }
    lua_State *L = luaL_newstate();
    if (!L) {
        fprintf(stderr, "%s: out of memory\n", argv[0]);
        return 1;
    }
    luaL_openlibs(L);

    /* package.preload["stepbox.core"]: `require "stepbox"` now needs no shared library. */
    luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_PRELOAD_TABLE);
    lua_pushcfunction(L, luaopen_stepbox_core);
    lua_setfield(L, -2, "stepbox.core");
    lua_pop(L, 1);

    lua_createtable(L, argc, 0);
    for (int i = 0; i < argc; i++) {
        lua_pushstring(L, argv[i]);
        lua_rawseti(L, -2, i - 1); /* the script is arg[0], as with the stand-alone interpreter */
    }
    lua_setglobal(L, "arg");

    lua_pushcfunction(L, with_traceback);
    int status = luaL_loadfile(L, argv[1]);
    if (status == LUA_OK)
        status = lua_pcall(L, 0, 0, -2);
    if (status != LUA_OK)
        fprintf(stderr, "%s: %s\n", argv[0], lua_tostring(L, -1));

    /* Boxes that the script still owns are killed here; their kills are waited for, but never for
     * long. */
    lua_close(L);
    return status == LUA_OK ? 0 : 1;
}
