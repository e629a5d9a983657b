/* coroutines.c - coroutine.resume, wrap and close, in which interrupts reach what they run. */
#include "host.h"

/* Resumes with `count` values on top of L. Returns how many came back, or -1 with the error. */
static int resume_thread(lua_State *L, lua_State *thread, int count) {
    struct interruptible link;
    int results;
    if (!lua_checkstack(thread, count)) {
        lua_pushliteral(L, "too many arguments to resume");
        return -1;
    }
    lua_xmove(L, thread, count);
    interrupts_enter(&link, thread);
    int status = lua_resume(thread, L, count, &results);
    interrupts_leave(&link);
    if (status != LUA_OK && status != LUA_YIELD) {
        lua_xmove(thread, L, 1);
        return -1;
    }
    if (!lua_checkstack(L, results + 1)) {
        lua_pop(thread, results);
        lua_pushliteral(L, "too many results to resume");
        return -1;
    }
    lua_xmove(thread, L, results);
    return results;
}

static lua_State *check_thread(lua_State *L) {
    lua_State *thread = lua_tothread(L, 1);
    luaL_argexpected(L, thread, 1, "coroutine");
    return thread;
}

static int resume(lua_State *L) {
    lua_State *thread = check_thread(L);
    int results = resume_thread(L, thread, lua_gettop(L) - 1);
    lua_pushboolean(L, results >= 0);
    lua_insert(L, results >= 0 ? -(results + 1) : -2);
    return results >= 0 ? results + 1 : 2;
}

/* Ends it, with the __close methods of its variables. False: one of them raised, which is on top of
 * it. */
static bool close_thread(lua_State *thread) {
    struct interruptible link;
    interrupts_enter(&link, thread);
    int status = lua_resetthread(thread);
    interrupts_leave(&link);
    return status == LUA_OK;
}

static int call_wrapped(lua_State *L) {
    lua_State *thread = lua_tothread(L, lua_upvalueindex(1));
    int results = resume_thread(L, thread, lua_gettop(L));
    if (results >= 0)
        return results;
    int status = lua_status(thread);
    if (status != LUA_OK && status != LUA_YIELD && !close_thread(thread))
        lua_xmove(thread, L, 1);
    if (status != LUA_ERRMEM && lua_type(L, -1) == LUA_TSTRING) {
        luaL_where(L, 1);
        lua_insert(L, -2);
        lua_concat(L, 2);
    }
    return lua_error(L);
}

static int wrap(lua_State *L) {
    luaL_checktype(L, 1, LUA_TFUNCTION);
    lua_State *thread = lua_newthread(L);
    lua_pushvalue(L, 1);
    lua_xmove(L, thread, 1);
    lua_pushcclosure(L, call_wrapped, 1);
    return 1;
}

static bool is_idle(lua_State *L, lua_State *thread) {
    lua_Debug ar;
    if (thread == L)
        return false;
    return lua_status(thread) == LUA_YIELD || lua_status(thread) > LUA_YIELD ||
           !lua_getstack(thread, 0, &ar);
}

static int close(lua_State *L) {
    lua_State *thread = check_thread(L);
    if (!is_idle(L, thread))
        return luaL_error(L, "cannot close a %s coroutine", thread == L ? "running" : "normal");
    if (close_thread(thread)) {
        lua_pushboolean(L, true);
        return 1;
    }
    lua_pushboolean(L, false);
    lua_xmove(thread, L, 1);
    return 2;
}

void coroutines_add(lua_State *L) {
    static const luaL_Reg functions[] = {
        {"resume", resume}, {"wrap", wrap}, {"close", close}, {NULL, NULL}};
    lua_getglobal(L, "coroutine");
    luaL_setfuncs(L, functions, 0);
    lua_pop(L, 1);
}
