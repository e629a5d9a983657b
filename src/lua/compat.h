/*
 * compat.h - the differences between the Lua versions that the binding meets (5.1 with LuaJIT
 * to 5.5).
 *
 * Everything else in this folder uses only what is the same in all of them, and these names.
 */
#ifndef STEPBOX_LUA_COMPAT_H
#define STEPBOX_LUA_COMPAT_H

#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>
#include <stdio.h>

#if LUA_VERSION_NUM < 502
#define lua_rawlen lua_objlen
#define compat_setfuncs(L, list) luaL_register(L, NULL, list)
#else
#define compat_setfuncs(L, list) luaL_setfuncs(L, list, 0)
#endif

#if LUA_VERSION_NUM >= 504
/* No user values are used: owners are kept alive by counting references in C. */
#define compat_newuserdata(L, size) lua_newuserdatauv(L, size, 0)
#else
#define compat_newuserdata(L, size) lua_newuserdata(L, size)
#endif

/* The C stream of an open file of Lua's io library; NULL when the value is none or is closed. */
static inline FILE *compat_file(lua_State *L, int index) {
    void *userdata = lua_touserdata(L, index);
    FILE *file = NULL;
    if (userdata && lua_getmetatable(L, index)) {
        luaL_getmetatable(L, LUA_FILEHANDLE);
        if (lua_rawequal(L, -1, -2)) {
#if LUA_VERSION_NUM >= 502
            const luaL_Stream *stream = userdata;
            file = stream->closef ? stream->f : NULL;
#else
            file = *(FILE **)userdata;
#endif
        }
        lua_pop(L, 2);
    }
    return file;
}

#endif
