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

#endif
