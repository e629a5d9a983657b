/* entry.c - what is known of a file, as a table. */
#include "binding.h"

void push_entry(lua_State *L, const sb_entry *entry) {
    static const char *const types[] = {"other", "file", "directory", "symlink"};
    luaL_checkstack(L, 6, NULL);
    lua_createtable(L, 0, 12);
    set_string(L, "name", entry->name);
    set_string(L, "path", entry->path);
    set_string(L, "type", types[entry->type]);
    set_integer(L, "size", entry->size);
    set_integer(L, "mode", entry->mode);
    set_string(L, "permissions", entry->permissions);
    set_string(L, "owner", entry->owner);
    set_string(L, "group", entry->group);
    set_string(L, "symlink_target", entry->symlink_target);
    set_integer(L, "modified_at", entry->modified_at);
    set_integer(L, "modified_ns", entry->modified_ns);
    lua_createtable(L, 0, (int)entry->metadata_count);
    for (size_t i = 0; i < entry->metadata_count; i++)
        set_string(L, entry->metadata[i].name, entry->metadata[i].value);
    lua_setfield(L, -2, "metadata");
}

void push_entries(lua_State *L, const sb_op *op) {
    size_t count = sb_op_entry_count(op);
    luaL_checkstack(L, 8, NULL);
    lua_createtable(L, (int)count, 0);
    for (size_t i = 0; i < count; i++) {
        push_entry(L, sb_op_entry(op, i));
        lua_rawseti(L, -2, (int)(i + 1));
    }
}
