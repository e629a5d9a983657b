/* arguments.c - arguments that calls have in common. */
#include "binding.h"

#include <math.h>
#include <string.h>

int path_at(lua_State *L, int index, const char **path) {
    size_t length;
    *path = luaL_checklstring(L, index, &length);
    if (strlen(*path) == length)
        return 0;
    sb_error err = {.code = SB_BAD_PATH, .message = "a path must not contain a NUL byte"};
    return push_failure(L, &err);
}

int id_at(lua_State *L, int index, const char **id) {
    size_t length;
    *id = luaL_checklstring(L, index, &length);
    if (strlen(*id) == length)
        return 0;
    sb_error err = {.code = SB_INVALID, .message = "id: not a sandbox's id"};
    return push_failure(L, &err);
}

const char *user_at(lua_State *L, int index) {
    size_t length;
    const char *user = luaL_optlstring(L, index, NULL, &length);
    luaL_argcheck(L, !user || strlen(user) == length, index, "must not contain a NUL byte");
    return user;
}

int64_t to_integer(double number) {
    return number >= -1 && number <= 9.2e18 && number == floor(number) ? (int64_t)number : -1;
}
