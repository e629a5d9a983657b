/* transfers.c - the methods that read and write files of a sandbox. */
#include "binding.h"

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

void transfers_register(lua_State *L) {
    static const luaL_Reg box[] = {
        {"start_file_read", box_file_read}, {"start_file_write", box_file_write}, {NULL, NULL}};
    static const luaL_Reg op[] = {
        {"feed_room", op_feed_room}, {"feed", op_feed}, {"feed_end", op_feed_end}, {NULL, NULL}};
    add_methods(L, BOX_TYPE, box);
    add_methods(L, OP_TYPE, op);
    add_kept(L);
}
