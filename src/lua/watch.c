/* watch.c - watching a directory of a sandbox. */
#include "binding.h"

/* box:start_watch(path, {user, recursive, include_entry, allow_network_mounts}) */
static int box_watch(lua_State *L) {
    struct lua_box *self = box_check(L);
    const char *path;
    int failed = path_at(L, 2, &path);
    if (failed)
        return failed;
    luaL_checktype(L, 3, LUA_TTABLE);
    sb_watch_options options = {0};
    options.user = field_string(L, 3, "user");
    options.recursive = field_boolean(L, 3, "recursive") == 1;
    options.include_entry = field_boolean(L, 3, "include_entry") == 1;
    options.allow_network_mounts = field_boolean(L, 3, "allow_network_mounts") == 1;
    if (!self->box)
        return box_closed(L);
    struct lua_op *op = op_new(L, self->client, OP_VALUE_TRUE);
    sb_error err;
    return op_started(L, op, sb_watch(self->box, path, &options, &err), &err);
}

/* op:begun() -> whether a watch sees changes from now on */
static int op_begun(lua_State *L) {
    lua_pushboolean(L, sb_op_flag(op_check(L)->op));
    return 1;
}

void push_file_event(lua_State *L, const sb_file_event *event) {
    static const char *const changes[] = {NULL, "create", "write", "remove", "rename", "chmod"};
    lua_createtable(L, 0, 4);
    set_string(L, "type", "file");
    set_string(L, "change", changes[event->change]);
    set_string(L, "name", event->name);
    if (event->entry) {
        push_entry(L, event->entry);
        lua_setfield(L, -2, "entry");
    }
}

void watch_register(lua_State *L) {
    static const luaL_Reg box[] = {{"start_watch", box_watch}, {NULL, NULL}};
    static const luaL_Reg op[] = {{"begun", op_begun}, {NULL, NULL}};
    add_methods(L, BOX_TYPE, box);
    add_methods(L, OP_TYPE, op);
}
