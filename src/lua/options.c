/*
 * options.c - reads tables of options for the core.
 *
 * lua/stepbox has checked names and types already, with messages for people; the checks here are
 * for those who call the private module. Strings are not copied: they stay alive in the caller's
 * table. Arrays live in userdata on the stack, so that a Lua error leaves nothing behind.
 */
#include "binding.h"

#include <string.h>

static void wrong_type(lua_State *L, const char *name, const char *wanted) {
    luaL_error(L, "option '%s': %s expected, got %s", name, wanted, luaL_typename(L, -1));
}

/* The string at the top of the stack; raises when it is none or has a NUL byte, which C would cut.
 */
static const char *top_string(lua_State *L, const char *name) {
    if (lua_type(L, -1) != LUA_TSTRING)
        wrong_type(L, name, "string");
    size_t length;
    const char *value = lua_tolstring(L, -1, &length);
    if (strlen(value) != length)
        luaL_error(L, "option '%s': a string here must not contain a NUL byte", name);
    return value;
}

const char *field_string(lua_State *L, int table, const char *name) {
    lua_getfield(L, table, name);
    const char *value = lua_isnil(L, -1) ? NULL : top_string(L, name);
    lua_pop(L, 1);
    return value;
}

double field_number(lua_State *L, int table, const char *name, double missing) {
    lua_getfield(L, table, name);
    if (!lua_isnil(L, -1)) {
        if (lua_type(L, -1) != LUA_TNUMBER)
            wrong_type(L, name, "number");
        missing = lua_tonumber(L, -1);
    }
    lua_pop(L, 1);
    return missing;
}

int field_boolean(lua_State *L, int table, const char *name) {
    lua_getfield(L, table, name);
    int value = 0;
    if (!lua_isnil(L, -1)) {
        if (!lua_isboolean(L, -1))
            wrong_type(L, name, "boolean");
        value = lua_toboolean(L, -1) ? 1 : -1;
    }
    lua_pop(L, 1);
    return value;
}

/* Pushes the table field, or returns 0 when it is not given (nothing pushed then). */
static int push_table(lua_State *L, int table, const char *name) {
    lua_getfield(L, table, name);
    if (lua_isnil(L, -1)) {
        lua_pop(L, 1);
        return 0;
    }
    if (!lua_istable(L, -1))
        wrong_type(L, name, "table");
    return 1;
}

const sb_pair *field_pairs(lua_State *L, int table, const char *name, size_t *count) {
    *count = 0;
    if (!push_table(L, table, name))
        return NULL;
    size_t total = 0;
    for (lua_pushnil(L); lua_next(L, -2); lua_pop(L, 1))
        total++;
    sb_pair *pairs = compat_newuserdata(L, (total ? total : 1) * sizeof *pairs);
    size_t n = 0;
    lua_pushnil(L);
    while (lua_next(L, -3)) {
        const char *value = top_string(L, name);
        lua_pop(L, 1);
        const char *key = top_string(L, name);
        pairs[n++] = (sb_pair){key, value};
    }
    *count = n;
    return pairs;
}

const char *const *field_strings(lua_State *L, int table, const char *name, size_t *count) {
    *count = 0;
    if (!push_table(L, table, name))
        return NULL;
    size_t total = lua_rawlen(L, -1);
    const char **strings = compat_newuserdata(L, (total ? total : 1) * sizeof *strings);
    for (size_t i = 0; i < total; i++) {
        lua_rawgeti(L, -2, (int)(i + 1));
        strings[i] = top_string(L, name);
        lua_pop(L, 1);
    }
    *count = total;
    return strings;
}
