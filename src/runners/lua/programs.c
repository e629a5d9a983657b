/* programs.c - os.execute and io.popen: programs write in order, and can be interrupted. */
#include "host.h"

#include <errno.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

/* Unlike system(3), which has the caller ignore SIGINT meanwhile. */
static int run_command(const char *command) {
    const char *const words[] = {"sh", "-c", "--", command, NULL};
    int status;
    pid_t pid;
    int error = posix_spawn(&pid, "/bin/sh", NULL, NULL, (char *const *)words, environ);
    if (error) {
        errno = error;
        return -1;
    }
    while (waitpid(pid, &status, 0) < 0) {
        if (errno != EINTR)
            return -1;
    }
    errno = 0; /* starting a program may leave one, and Lua would take it for the program's */
    return status;
}

static int execute(lua_State *L) {
    const char *command = luaL_optstring(L, 1, NULL);
    if (!command) {
        lua_pushboolean(L, access("/bin/sh", X_OK) == 0);
        return 1;
    }
    step_turn_to(0);
    interrupts_check(L);
    return luaL_execresult(L, run_command(command));
}

static int popen_in_order(lua_State *L) {
    step_turn_to(0);
    interrupts_check(L);
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_insert(L, 1);
    lua_call(L, lua_gettop(L) - 1, LUA_MULTRET);
    return lua_gettop(L);
}

void programs_add(lua_State *L) {
    lua_getglobal(L, "os");
    lua_pushcfunction(L, execute);
    lua_setfield(L, -2, "execute");
    lua_getglobal(L, "io");
    lua_getfield(L, -1, "popen");
    lua_pushcclosure(L, popen_in_order, 1);
    lua_setfield(L, -2, "popen");
    lua_pop(L, 2);
}
