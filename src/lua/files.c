/* files.c - the methods of a box that name a file or directory and get one answer. */
#include "binding.h"

#include <math.h>
#include <stdlib.h>

typedef sb_op *path_call(sb_box *box, const char *path, const char *user, sb_error *err);

/* box:start_file_NAME(path, user) */
static int start(lua_State *L, path_call *fn, enum op_value value) {
    struct lua_box *self = box_check(L);
    const char *path;
    int failed = path_at(L, 2, &path);
    const char *user = user_at(L, 3);
    if (failed)
        return failed;
    if (!self->box)
        return box_closed(L);
    struct lua_op *op = op_new(L, self->client, value);
    sb_error err;
    return op_started(L, op, fn(self->box, path, user, &err), &err);
}

static int box_file_info(lua_State *L) {
    return start(L, sb_file_info, OP_VALUE_ENTRY);
}

static int box_file_make_dir(lua_State *L) {
    return start(L, sb_file_make_dir, OP_VALUE_FLAG);
}

static int box_file_remove(lua_State *L) {
    return start(L, sb_file_remove, OP_VALUE_TRUE);
}

/* box:start_file_list(path, depth, user) */
static int box_file_list(lua_State *L) {
    struct lua_box *self = box_check(L);
    const char *path;
    int failed = path_at(L, 2, &path);
    double depth = luaL_optnumber(L, 3, 1);
    const char *user = user_at(L, 4);
    luaL_argcheck(L, depth >= 1 && depth == floor(depth), 3, "must be a whole number above 0");
    if (failed)
        return failed;
    if (!self->box)
        return box_closed(L);
    struct lua_op *op = op_new(L, self->client, OP_VALUE_ENTRIES);
    sb_error err;
    unsigned levels = depth < UINT32_MAX ? (unsigned)depth : UINT32_MAX;
    return op_started(L, op, sb_file_list(self->box, path, levels, user, &err), &err);
}

/* box:start_file_rename(from, to, user) */
static int box_file_rename(lua_State *L) {
    struct lua_box *self = box_check(L);
    const char *from, *to;
    int failed = path_at(L, 2, &from);
    if (!failed)
        failed = path_at(L, 3, &to);
    const char *user = user_at(L, 4);
    if (failed)
        return failed;
    if (!self->box)
        return box_closed(L);
    struct lua_op *op = op_new(L, self->client, OP_VALUE_ENTRY);
    sb_error err;
    return op_started(L, op, sb_file_rename(self->box, from, to, user, &err), &err);
}

/* box:start_file_compose(sources, to, user) */
static int box_file_compose(lua_State *L) {
    struct lua_box *self = box_check(L);
    luaL_checktype(L, 2, LUA_TTABLE);
    const char *to;
    int failed = path_at(L, 3, &to);
    const char *user = user_at(L, 4);
    if (failed)
        return failed;
    size_t count = lua_rawlen(L, 2);
    const char **sources = compat_newuserdata(L, (count + 1) * sizeof *sources);
    for (size_t i = 0; i < count; i++) {
        lua_rawgeti(L, 2, (int)(i + 1));
        luaL_argcheck(L, lua_type(L, -1) == LUA_TSTRING, 2, "must be a list of paths");
        failed = path_at(L, -1, &sources[i]); /* the string stays alive in the list */
        if (failed)
            return failed;
        lua_pop(L, 1);
    }
    if (!self->box)
        return box_closed(L);
    struct lua_op *op = op_new(L, self->client, OP_VALUE_ENTRY);
    sb_error err;
    return op_started(L, op, sb_file_compose(self->box, sources, count, to, user, &err), &err);
}

typedef char *url_call(sb_box *box, const char *path, bool write, const char *user, int64_t expires,
                       sb_error *err);

/* box:file_url(path, write, user, expires) -> string | nil, message, code */
static int url(lua_State *L, url_call *fn) {
    struct lua_box *self = box_check(L);
    const char *path;
    int failed = path_at(L, 2, &path);
    if (failed)
        return failed;
    const char *user = user_at(L, 4);
    int64_t expires = to_integer(luaL_optnumber(L, 5, 0));
    if (!self->box)
        return box_closed(L);
    sb_error err;
    char *text = fn(self->box, path, lua_toboolean(L, 3), user, expires, &err);
    if (!text)
        return push_failure(L, &err);
    lua_pushstring(L, text); /* may raise for lack of memory, and leak the text then */
    free(text);
    return 1;
}

static int box_file_url(lua_State *L) {
    return url(L, sb_file_url);
}

static int box_file_url_path(lua_State *L) {
    return url(L, sb_file_url_path);
}

void files_register(lua_State *L) {
    static const luaL_Reg box[] = {{"start_file_info", box_file_info},
                                   {"start_file_list", box_file_list},
                                   {"start_file_make_dir", box_file_make_dir},
                                   {"start_file_rename", box_file_rename},
                                   {"start_file_remove", box_file_remove},
                                   {"start_file_compose", box_file_compose},
                                   {"file_url", box_file_url},
                                   {"file_url_path", box_file_url_path},
                                   {NULL, NULL}};
    add_methods(L, BOX_TYPE, box);
}
