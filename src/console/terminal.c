/* terminal.c - whether a descriptor is a terminal, its size, and its raw mode. */
#include "console.h"

#include <errno.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#define RAW_TYPE "stepbox.raw_terminal"

struct raw_terminal {
    int fd; /* borrowed; -1: restored */
    struct termios before;
};

/* console.is_terminal(fd) */
static int console_is_terminal(lua_State *L) {
    lua_pushboolean(L, isatty(console_descriptor(L, 1)));
    return 1;
}

/* console.size(fd) -> columns, rows | nil when it is no terminal, or does not know */
static int console_size(lua_State *L) {
    struct winsize size;
    if (ioctl(console_descriptor(L, 1), TIOCGWINSZ, &size) < 0 || size.ws_col == 0 ||
        size.ws_row == 0) {
        lua_pushnil(L);
        return 1;
    }
    lua_pushinteger(L, size.ws_col);
    lua_pushinteger(L, size.ws_row);
    return 2;
}

/* raw:restore(); may be called again */
static int raw_restore(lua_State *L) {
    struct raw_terminal *self = luaL_checkudata(L, 1, RAW_TYPE);
    int fd = self->fd;
    self->fd = -1;
    while (fd >= 0 && tcsetattr(fd, TCSADRAIN, &self->before) < 0 && errno == EINTR) {
    }
    return 0;
}

/* console.raw(fd) -> raw | nil, message: keys come as they are typed, Ctrl-C too */
static int console_raw(lua_State *L) {
    int fd = console_descriptor(L, 1);
    struct raw_terminal *self = compat_newuserdata(L, sizeof *self);
    self->fd = -1;
    luaL_getmetatable(L, RAW_TYPE);
    lua_setmetatable(L, -2);
    if (tcgetattr(fd, &self->before) < 0)
        return console_failure(L, "terminal");
    struct termios raw = self->before;
    cfmakeraw(&raw);
    if (tcsetattr(fd, TCSADRAIN, &raw) < 0)
        return console_failure(L, "terminal");
    self->fd = fd;
    return 1;
}

/* console.now() -> seconds of a clock that is never set */
static int console_now(lua_State *L) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    lua_pushnumber(L, (lua_Number)now.tv_sec + (lua_Number)now.tv_nsec / 1e9);
    return 1;
}

/* console.process_id() */
static int console_process_id(lua_State *L) {
    lua_pushinteger(L, getpid());
    return 1;
}

void terminal_register(lua_State *L) {
    static const luaL_Reg functions[] = {{"is_terminal", console_is_terminal},
                                         {"size", console_size},
                                         {"raw", console_raw},
                                         {"now", console_now},
                                         {"process_id", console_process_id},
                                         {NULL, NULL}};
    static const luaL_Reg meta[] = {{"__gc", raw_restore}, {"__close", raw_restore}, {NULL, NULL}};
    static const luaL_Reg methods[] = {{"restore", raw_restore}, {NULL, NULL}};
    if (luaL_newmetatable(L, RAW_TYPE)) {
        compat_setfuncs(L, meta);
        lua_newtable(L);
        compat_setfuncs(L, methods);
        lua_setfield(L, -2, "__index");
    }
    lua_pop(L, 1);
    compat_setfuncs(L, functions);
}
