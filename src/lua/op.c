/* op.c - the operation userdata: what a call is while it runs. */
#include "binding.h"

/* OP_TYPE's metatable has a field `live`: operation address -> userdata, with weak values, so that
 * the loop can hand out the userdata of an operation with news; and a field `receivers`: userdata
 * -> what the operation was started on, with weak keys, so that the collector kills no sandbox
 * that something is going on in. */

static struct lua_op *new_op(lua_State *L, enum op_value value) {
    struct lua_op *self = compat_newuserdata(L, sizeof *self);
    *self = (struct lua_op){.value = value};
    luaL_getmetatable(L, OP_TYPE);
    lua_setmetatable(L, -2);
    return self;
}

struct lua_op *op_new(lua_State *L, struct client_owner *client, enum op_value value) {
    struct lua_op *self = new_op(L, value);
    self->client = client;
    client->references++;
    return self;
}

struct lua_op *op_new_of_loop(lua_State *L, struct loop_owner *loop, enum op_value value) {
    struct lua_op *self = new_op(L, value);
    self->loop = loop;
    loop->references++;
    return self;
}

int op_started(lua_State *L, struct lua_op *self, sb_op *op, const sb_error *err) {
    if (!op)
        return push_failure(L, err);
    self->op = op;
    luaL_getmetatable(L, OP_TYPE);
    lua_getfield(L, -1, "live");
    lua_pushlightuserdata(L, op);
    lua_pushvalue(L, -4);
    lua_rawset(L, -3);
    lua_getfield(L, -2, "receivers");
    lua_pushvalue(L, -4);
    lua_pushvalue(L, 1);
    lua_rawset(L, -3);
    lua_pop(L, 3);
    return 1;
}

static int op_close(lua_State *L) {
    struct lua_op *self = luaL_checkudata(L, 1, OP_TYPE);
    sb_op *op = self->op;
    struct client_owner *client = self->client;
    struct loop_owner *loop = self->loop;
    self->op = NULL;
    self->client = NULL;
    self->loop = NULL;
    sb_op_free(op);
    op_release_file(self);
    client_owner_release(client);
    loop_owner_release(loop);
    return 0;
}

/* Takes the operation at index 1 out of one of its metatable's tables. */
static void forget(lua_State *L, const char *table) {
    luaL_getmetatable(L, OP_TYPE);
    lua_getfield(L, -1, table);
    lua_pushvalue(L, 1);
    lua_rawget(L, -2);
    if (!lua_isnil(L, -1)) {
        lua_pushvalue(L, 1);
        lua_pushnil(L);
        lua_rawset(L, -4);
    }
    lua_pop(L, 3);
}

/* op:close(): what it kept alive can be collected before it is itself. */
static int op_close_now(lua_State *L) {
    op_close(L);
    forget(L, "receivers");
    forget(L, "kept");
    return 0;
}

struct lua_op *op_check(lua_State *L) {
    struct lua_op *self = luaL_checkudata(L, 1, OP_TYPE);
    luaL_argcheck(L, self->op, 1, "the operation is closed");
    return self;
}

static int op_done(lua_State *L) {
    lua_pushboolean(L, sb_op_done(op_check(L)->op));
    return 1;
}

static int op_cancel(lua_State *L) {
    sb_op_cancel(op_check(L)->op);
    return 0;
}

/* op:next_event() -> table | nil when none waits */
static int op_next_event(lua_State *L) {
    struct lua_op *self = op_check(L);
    const sb_event *event = sb_op_next_event(self->op);
    if (!event)
        lua_pushnil(L);
    else
        push_event(L, event);
    return 1;
}

/* op:pid() -> integer | nil: of the process it follows, once that is known */
static int op_pid(lua_State *L) {
    int64_t pid = sb_op_pid(op_check(L)->op);
    if (pid == 0)
        lua_pushnil(L);
    else
        lua_pushinteger(L, (lua_Integer)pid);
    return 1;
}

/* Pushes the bytes behind the first `skipped` ones. */
static void push_rest(lua_State *L, const char *bytes, size_t length, lua_Number skipped) {
    size_t begin = skipped < (lua_Number)length ? (size_t)skipped : length;
    lua_pushlstring(L, bytes ? bytes + begin : "", length - begin);
}

/* op:stdout(skipped), op:stderr(skipped): what a command has written so far behind its first bytes,
 * and whether what came after that was dropped */
static int op_stdout(lua_State *L) {
    const sb_command_result *command = sb_op_command(op_check(L)->op);
    lua_Number skipped = luaL_optnumber(L, 2, 0);
    luaL_argcheck(L, skipped >= 0, 2, "must not be negative");
    push_rest(L, command ? command->out : NULL, command ? command->out_length : 0, skipped);
    lua_pushboolean(L, command && command->out_truncated);
    return 2;
}

static int op_stderr(lua_State *L) {
    const sb_command_result *command = sb_op_command(op_check(L)->op);
    lua_Number skipped = luaL_optnumber(L, 2, 0);
    luaL_argcheck(L, skipped >= 0, 2, "must not be negative");
    push_rest(L, command ? command->err : NULL, command ? command->err_length : 0, skipped);
    lua_pushboolean(L, command && command->err_truncated);
    return 2;
}

static void push_value(lua_State *L, struct lua_op *self) {
    switch (self->value) {
    case OP_VALUE_TRUE:
        lua_pushboolean(L, 1);
        break;
    case OP_VALUE_FLAG:
        lua_pushboolean(L, sb_op_flag(self->op));
        break;
    case OP_VALUE_BOX: {
        struct lua_box *box = box_new(L, self->client);
        box->box = sb_op_take_box(self->op);
        break;
    }
    case OP_VALUE_INFO:
        push_info(L, sb_op_info(self->op, 0));
        break;
    case OP_VALUE_LIST: {
        size_t count = sb_op_info_count(self->op);
        lua_createtable(L, (int)count, 0);
        for (size_t i = 0; i < count; i++) {
            push_info(L, sb_op_info(self->op, i));
            lua_rawseti(L, -2, (int)(i + 1));
        }
        break;
    }
    case OP_VALUE_EXECUTION:
        push_execution(L, sb_op_execution(self->op));
        break;
    case OP_VALUE_CONTEXT:
        push_context(L, sb_op_context(self->op, 0));
        break;
    case OP_VALUE_CONTEXTS:
        push_contexts(L, self->op);
        break;
    case OP_VALUE_LANGUAGES:
        push_languages(L, self->op);
        break;
    case OP_VALUE_COMMAND:
        push_command(L, self->op);
        break;
    case OP_VALUE_PROCESSES:
        push_processes(L, self->op);
        break;
    case OP_VALUE_ENTRY:
        push_entry(L, sb_op_entry(self->op, 0));
        break;
    case OP_VALUE_ENTRIES:
        push_entries(L, self->op);
        break;
    case OP_VALUE_JSON:
        lua_pushstring(L, sb_op_json(self->op));
        break;
    case OP_VALUE_BYTES:
    case OP_VALUE_COUNT: {
        size_t length;
        const char *bytes = sb_op_bytes(self->op, &length);
        if (self->value == OP_VALUE_BYTES)
            lua_pushlstring(L, bytes, length);
        else
            lua_pushinteger(L, (lua_Integer)length);
        break;
    }
    }
}

/* op:result() -> value | nil, message, code, partial. Only when done; a box can be taken once. */
static int op_result(lua_State *L) {
    struct lua_op *self = op_check(L);
    luaL_argcheck(L, sb_op_done(self->op), 1, "the operation is not done");
    lua_settop(L, 1);
    op_settle_file(L, self);
    sb_error err;
    if (sb_op_error(self->op, &err) == SB_OK) {
        push_value(L, self);
        if (self->value != OP_VALUE_LIST)
            return 1;
        lua_pushstring(L, sb_op_next_token(self->op));
        return 2;
    }
    int count = push_failure(L, &err);
    if (self->value == OP_VALUE_EXECUTION)
        push_execution(L, sb_op_execution(self->op));
    else if (sb_op_command(self->op))
        push_command(L, self->op);
    else
        return count;
    return count + 1;
}

static void push_weak_table(lua_State *L, const char *mode) {
    lua_newtable(L);
    lua_newtable(L);
    lua_pushstring(L, mode);
    lua_setfield(L, -2, "__mode");
    lua_setmetatable(L, -2);
}

void op_register(lua_State *L) {
    static const luaL_Reg meta[] = {{"__gc", op_close}, {"__close", op_close}, {NULL, NULL}};
    static const luaL_Reg methods[] = {{"done", op_done},
                                       {"cancel", op_cancel},
                                       {"result", op_result},
                                       {"next_event", op_next_event},
                                       {"close", op_close_now},
                                       {"pid", op_pid},
                                       {"stdout", op_stdout},
                                       {"stderr", op_stderr},
                                       {NULL, NULL}};
    register_type(L, OP_TYPE, meta, methods);
    luaL_getmetatable(L, OP_TYPE);
    lua_getfield(L, -1, "live");
    if (lua_istable(L, -1)) {
        lua_pop(L, 2);
        return;
    }
    lua_pop(L, 1);
    push_weak_table(L, "v");
    lua_setfield(L, -2, "live");
    push_weak_table(L, "k");
    lua_setfield(L, -2, "receivers");
    lua_pop(L, 1);
}
