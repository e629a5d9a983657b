/* files.c - the methods of a box for files, and what they give. */
#include "binding.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A path at an index: 0, or the count of results that say that it cannot be one. A path with a NUL
 * byte names nothing, as far as a system is concerned. */
static int path_at(lua_State *L, int index, const char **path) {
    size_t length;
    *path = luaL_checklstring(L, index, &length);
    if (strlen(*path) == length)
        return 0;
    sb_error err = {.code = SB_BAD_PATH, .message = "a path must not contain a NUL byte"};
    return push_failure(L, &err);
}

static const char *user_at(lua_State *L, int index) {
    size_t length;
    const char *user = luaL_optlstring(L, index, NULL, &length);
    luaL_argcheck(L, !user || strlen(user) == length, index, "must not contain a NUL byte");
    return user;
}

/* A whole number within what C can hold; what is none is -1, which the core refuses. */
static int64_t to_integer(double number) {
    return number >= -1 && number <= 9.2e18 && number == floor(number) ? (int64_t)number : -1;
}

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

/* Pushes the table's field when it is an open file; else nothing. Raises when it is something else.
 */
static int push_file(lua_State *L, int table) {
    lua_getfield(L, table, "file");
    if (lua_isnil(L, -1)) {
        lua_pop(L, 1);
        return 0;
    }
    if (!compat_file(L, -1))
        luaL_error(L, "option 'file': open file expected");
    return 1;
}

/* box:start_file_read(path, {user, offset, length, file, cut, events, max_bytes, idle_timeout}) */
static int box_file_read(lua_State *L) {
    struct lua_box *self = box_check(L);
    const char *path;
    int failed = path_at(L, 2, &path);
    if (failed)
        return failed;
    luaL_checktype(L, 3, LUA_TTABLE);
    luaL_checkstack(L, 8, NULL);
    sb_read_options options = {0};
    options.user = field_string(L, 3, "user");
    options.offset = to_integer(field_number(L, 3, "offset", 0));
    options.length = to_integer(field_number(L, 3, "length", 0));
    options.events = field_boolean(L, 3, "events") == 1;
    options.max_bytes = (uint64_t)to_integer(field_number(L, 3, "max_bytes", 0));
    options.idle_timeout = field_number(L, 3, "idle_timeout", 0);
    bool cut = field_boolean(L, 3, "cut") == 1;
    options.to_fd = push_file(L, 3);
    int file = lua_gettop(L);
    if (!self->box)
        return box_closed(L);
    enum op_value value = options.to_fd || options.events ? OP_VALUE_COUNT : OP_VALUE_BYTES;
    struct lua_op *op = op_new(L, self->client, value);
    sb_error err;
    if (options.to_fd && op_use_file(L, op, file, &err) != 0)
        return push_failure(L, &err);
    options.fd = op->fd;
    op->cuts = cut;
    return op_started(L, op, sb_file_read(self->box, path, &options, &err), &err);
}

/* box:start_file_write(path, {user, metadata, bytes | file | feed, idle_timeout}) */
static int box_file_write(lua_State *L) {
    struct lua_box *self = box_check(L);
    const char *path;
    int failed = path_at(L, 2, &path);
    if (failed)
        return failed;
    luaL_checktype(L, 3, LUA_TTABLE);
    luaL_checkstack(L, 12, NULL);
    sb_write_options options = {0};
    options.user = field_string(L, 3, "user");
    options.idle_timeout = field_number(L, 3, "idle_timeout", 0);
    options.feed = field_boolean(L, 3, "feed") == 1;
    options.metadata = field_pairs(L, 3, "metadata", &options.metadata_count);
    lua_getfield(L, 3, "bytes");
    int bytes = lua_gettop(L);
    if (!lua_isnil(L, bytes)) {
        if (lua_type(L, bytes) != LUA_TSTRING)
            return luaL_error(L, "option 'bytes': string expected, got %s",
                              luaL_typename(L, bytes));
        options.bytes = lua_tolstring(L, bytes, &options.length);
        options.borrow = true; /* kept below */
    }
    options.from_fd = push_file(L, 3);
    int file = lua_gettop(L);
    if (!self->box)
        return box_closed(L);
    struct lua_op *op = op_new(L, self->client, OP_VALUE_ENTRY);
    sb_error err;
    if (options.bytes)
        op_keep(L, bytes);
    else if (options.from_fd && op_use_file(L, op, file, &err) != 0)
        return push_failure(L, &err);
    options.fd = op->fd;
    return op_started(L, op, sb_file_write(self->box, path, &options, &err), &err);
}

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

/* --- more methods of operations */

/* op:begun() -> whether a watch sees changes from now on */
static int op_begun(lua_State *L) {
    lua_pushboolean(L, sb_op_flag(op_check(L)->op));
    return 1;
}

/* op:feed_room() -> bytes that should be given now */
static int op_feed_room(lua_State *L) {
    lua_pushinteger(L, (lua_Integer)sb_op_feed_room(op_check(L)->op));
    return 1;
}

static int push_status(lua_State *L, int status, const sb_error *err) {
    if (status != 0)
        return push_failure(L, err);
    lua_pushboolean(L, 1);
    return 1;
}

/* op:feed(bytes), op:feed_end() -> true | nil, message, code */
static int op_feed(lua_State *L) {
    struct lua_op *self = op_check(L);
    size_t length;
    const char *bytes = luaL_checklstring(L, 2, &length);
    sb_error err;
    return push_status(L, sb_op_feed(self->op, bytes, length, &err), &err);
}

static int op_feed_end(lua_State *L) {
    struct lua_op *self = op_check(L);
    sb_error err;
    return push_status(L, sb_op_feed_end(self->op, &err), &err);
}

/* --- values */

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

static void add_methods(lua_State *L, const char *type, const luaL_Reg *methods) {
    luaL_getmetatable(L, type);
    lua_getfield(L, -1, "methods");
    compat_setfuncs(L, methods);
    lua_pop(L, 2);
}

static void add_kept(lua_State *L) {
    luaL_getmetatable(L, OP_TYPE);
    lua_getfield(L, -1, "kept");
    if (lua_isnil(L, -1)) {
        lua_newtable(L);
        lua_newtable(L);
        lua_pushliteral(L, "k");
        lua_setfield(L, -2, "__mode");
        lua_setmetatable(L, -2);
        lua_setfield(L, -3, "kept");
    }
    lua_pop(L, 2);
}

void files_register(lua_State *L) {
    static const luaL_Reg box[] = {{"start_file_info", box_file_info},
                                   {"start_file_list", box_file_list},
                                   {"start_file_make_dir", box_file_make_dir},
                                   {"start_file_rename", box_file_rename},
                                   {"start_file_remove", box_file_remove},
                                   {"start_file_compose", box_file_compose},
                                   {"start_file_read", box_file_read},
                                   {"start_file_write", box_file_write},
                                   {"start_watch", box_watch},
                                   {"file_url", box_file_url},
                                   {"file_url_path", box_file_url_path},
                                   {NULL, NULL}};
    static const luaL_Reg op[] = {{"begun", op_begun},
                                  {"feed_room", op_feed_room},
                                  {"feed", op_feed},
                                  {"feed_end", op_feed_end},
                                  {NULL, NULL}};
    add_methods(L, BOX_TYPE, box);
    add_methods(L, OP_TYPE, op);
    add_kept(L);
}
