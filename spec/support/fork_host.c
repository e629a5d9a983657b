/*
 * fork_host.c - a host that forks while a Lua state owns a sandbox. The child closes its copy of
 * the state and ends; the parent's sandbox and its connections must not notice. Exits 0 when that
 * is so.
 */
#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

int luaopen_stepbox_core(lua_State *L);

static int run(lua_State *L, const char *code) {
    if (luaL_dostring(L, code) == LUA_OK)
        return 0;
    fprintf(stderr, "%s\n", lua_tostring(L, -1));
    return 1;
}

int main(void) {
    lua_State *L = luaL_newstate();
    luaL_openlibs(L);
    luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_PRELOAD_TABLE);
    lua_pushcfunction(L, luaopen_stepbox_core);
    lua_setfield(L, -2, "stepbox.core");
    if (run(L, "stepbox = require 'stepbox'\n"
               "box = assert(stepbox.create { timeout = 60 })\n"
               "assert(box:step 'x = 1')"))
        return 1;

    pid_t child = fork();
    if (child == 0) {
        /* In the child calls are refused, and nothing that it frees reaches the sandbox. */
        int bad = run(L, "local ok, message, code = box:step 'x'\n"
                         "assert(ok == nil and code == 'invalid', message)\n"
                         "box = nil; collectgarbage()");
        lua_close(L);
        exit(bad);
    }
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0) {
        fprintf(stderr, "the child ended with status %d\n", status);
        return 1;
    }
    sleep(1);
    int bad = run(L, "assert(assert(box:step 'x').text == '1')\nassert(box:kill())");
    lua_close(L);
    return bad;
}
