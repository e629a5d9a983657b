/* module.c - luaopen_stepbox_console. */
#include "console.h"

#include <errno.h>
#include <string.h>

int console_failure(lua_State *L, const char *what) {
    int error = errno;
    lua_pushnil(L);
    lua_pushfstring(L, "%s: %s", what, strerror(error));
    lua_pushstring(L, error == EPIPE ? "broken_pipe" : "system");
    return 3;
}

int console_descriptor(lua_State *L, int index) {
    lua_Number fd = luaL_checknumber(L, index);
    luaL_argcheck(L, fd >= 0 && fd < 1e9 && fd == (int)fd, index, "is no descriptor");
    return (int)fd;
}

__attribute__((visibility("default"))) int luaopen_stepbox_console(lua_State *L);

__attribute__((visibility("default"))) int luaopen_stepbox_console(lua_State *L) {
    lua_newtable(L);
    terminal_register(L);
    descriptors_register(L);
    signals_register(L);
    replace_file_register(L);
    return 1;
}
