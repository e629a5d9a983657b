/* process.c - the methods of a box for commands and processes, and what they give. */
#include "binding.h"

#include <limits.h>
#include <string.h>

/* A number within what C can hold; what is none is 0 or the largest, which the core refuses. */
static uint64_t to_unsigned(double number, uint64_t max) {
    if (!(number >= 0))
        return max;
    return number < (double)max ? (uint64_t)number : max;
}

/* An optional string at an index, without NUL bytes. */
static const char *argument_string(lua_State *L, int index) {
    size_t length;
    const char *value = luaL_optlstring(L, index, NULL, &length);
    luaL_argcheck(L, !value || strlen(value) == length, index, "must not contain a NUL byte");
    return value;
}

/* {pid =, tag =} at an index. */
static sb_process process_at(lua_State *L, int index) {
    luaL_checktype(L, index, LUA_TTABLE);
    double pid = field_number(L, index, "pid", 0);
    return (sb_process){.pid = pid >= 1 && pid <= UINT32_MAX ? (int64_t)pid : 0,
                        .tag = field_string(L, index, "tag")};
}

/* box:start_command(command, {args, cwd, user, tag, envs, timeout, max_output, open_stdin,
 * detached, events, cols, rows}) */
static int box_command(lua_State *L) {
    struct lua_box *self = box_check(L);
    const char *command = argument_string(L, 2);
    luaL_checktype(L, 3, LUA_TTABLE);
    luaL_checkstack(L, 8, NULL);
    sb_command_options options = {0};
    options.cwd = field_string(L, 3, "cwd");
    options.user = field_string(L, 3, "user");
    options.tag = field_string(L, 3, "tag");
    options.timeout = field_number(L, 3, "timeout", 0);
    options.max_output = to_unsigned(field_number(L, 3, "max_output", 0), UINT64_MAX);
    options.open_stdin = field_boolean(L, 3, "open_stdin") == 1;
    options.detached = field_boolean(L, 3, "detached") == 1;
    options.events = field_boolean(L, 3, "events") == 1;
    options.cols = (unsigned)to_unsigned(field_number(L, 3, "cols", 0), UINT_MAX);
    options.rows = (unsigned)to_unsigned(field_number(L, 3, "rows", 0), UINT_MAX);
    options.envs = field_pairs(L, 3, "envs", &options.env_count);
    options.args = field_strings(L, 3, "args", &options.arg_count);
    if (!self->box)
        return box_closed(L);
    struct lua_op *op = op_new(L, self->client, OP_VALUE_COMMAND);
    sb_error err;
    return op_started(L, op, sb_command(self->box, command, &options, &err), &err);
}

/* box:start_process_connect({pid, tag}, {timeout, max_output, events}) */
static int box_process_connect(lua_State *L) {
    struct lua_box *self = box_check(L);
    sb_process process = process_at(L, 2);
    luaL_checktype(L, 3, LUA_TTABLE);
    sb_process_connect_options options = {0};
    options.timeout = field_number(L, 3, "timeout", 0);
    options.max_output = to_unsigned(field_number(L, 3, "max_output", 0), UINT64_MAX);
    options.events = field_boolean(L, 3, "events") == 1;
    if (!self->box)
        return box_closed(L);
    struct lua_op *op = op_new(L, self->client, OP_VALUE_COMMAND);
    sb_error err;
    return op_started(L, op, sb_process_connect(self->box, &process, &options, &err), &err);
}

/* box:start_process_list() */
static int box_process_list(lua_State *L) {
    struct lua_box *self = box_check(L);
    if (!self->box)
        return box_closed(L);
    struct lua_op *op = op_new(L, self->client, OP_VALUE_PROCESSES);
    sb_error err;
    return op_started(L, op, sb_process_list(self->box, &err), &err);
}

/* box:start_process_send({pid, tag}, bytes, to_terminal, timeout: none or 0 is the request's) */
static int box_process_send(lua_State *L) {
    struct lua_box *self = box_check(L);
    sb_process process = process_at(L, 2);
    size_t length;
    const char *bytes = luaL_checklstring(L, 3, &length);
    bool to_terminal = lua_toboolean(L, 4);
    double timeout = luaL_optnumber(L, 5, 0);
    if (!self->box)
        return box_closed(L);
    struct lua_op *op = op_new(L, self->client, OP_VALUE_TRUE);
    sb_error err;
    return op_started(
        L, op, sb_process_send(self->box, &process, bytes, length, to_terminal, timeout, &err),
        &err);
}

/* box:start_process_close_stdin({pid, tag}) */
static int box_process_close_stdin(lua_State *L) {
    struct lua_box *self = box_check(L);
    sb_process process = process_at(L, 2);
    if (!self->box)
        return box_closed(L);
    struct lua_op *op = op_new(L, self->client, OP_VALUE_TRUE);
    sb_error err;
    return op_started(L, op, sb_process_close_stdin(self->box, &process, &err), &err);
}

/* box:start_process_signal({pid, tag}, number) */
static int box_process_signal(lua_State *L) {
    struct lua_box *self = box_check(L);
    sb_process process = process_at(L, 2);
    double number = luaL_checknumber(L, 3);
    if (!self->box)
        return box_closed(L);
    int signal = number >= 1 && number <= 64 ? (int)number : 0;
    struct lua_op *op = op_new(L, self->client, OP_VALUE_TRUE);
    sb_error err;
    return op_started(L, op, sb_process_signal(self->box, &process, signal, &err), &err);
}

/* box:start_process_resize({pid, tag}, cols, rows) */
static int box_process_resize(lua_State *L) {
    struct lua_box *self = box_check(L);
    sb_process process = process_at(L, 2);
    unsigned cols = (unsigned)to_unsigned(luaL_checknumber(L, 3), UINT_MAX);
    unsigned rows = (unsigned)to_unsigned(luaL_checknumber(L, 4), UINT_MAX);
    if (!self->box)
        return box_closed(L);
    struct lua_op *op = op_new(L, self->client, OP_VALUE_TRUE);
    sb_error err;
    return op_started(L, op, sb_process_resize(self->box, &process, cols, rows, &err), &err);
}

void push_command(lua_State *L, const sb_op *op) {
    const sb_command_result *command = sb_op_command(op);
    luaL_checkstack(L, 4, NULL);
    lua_createtable(L, 0, 10);
    set_string(L, "command", command->command);
    if (command->exit_code >= 0)
        set_integer(L, "exit_code", command->exit_code);
    set_string(L, "how", command->how);
    if (sb_op_pid(op) != 0)
        set_integer(L, "pid", sb_op_pid(op));
    set_bytes(L, "stdout", command->out, command->out_length);
    set_bytes(L, "stderr", command->err, command->err_length);
    set_boolean(L, "truncated", command->out_truncated || command->err_truncated);
    set_boolean(L, "stdout_truncated", command->out_truncated);
    set_boolean(L, "stderr_truncated", command->err_truncated);
    if (command->dropped > 0)
        set_integer(L, "dropped", (lua_Integer)command->dropped);
}

static void push_process(lua_State *L, const sb_process_info *info) {
    lua_createtable(L, 0, 6);
    set_integer(L, "pid", info->pid);
    set_string(L, "tag", info->tag);
    set_string(L, "command", info->command);
    set_string(L, "cwd", info->cwd);
    lua_createtable(L, (int)info->arg_count, 0);
    for (size_t i = 0; i < info->arg_count; i++) {
        lua_pushstring(L, info->args[i]);
        lua_rawseti(L, -2, (int)(i + 1));
    }
    lua_setfield(L, -2, "args");
    lua_createtable(L, 0, (int)info->env_count);
    for (size_t i = 0; i < info->env_count; i++)
        set_string(L, info->envs[i].name, info->envs[i].value);
    lua_setfield(L, -2, "envs");
}

void push_processes(lua_State *L, const sb_op *op) {
    size_t count = sb_op_process_count(op);
    luaL_checkstack(L, 8, NULL);
    lua_createtable(L, (int)count, 0);
    for (size_t i = 0; i < count; i++) {
        push_process(L, sb_op_process(op, i));
        lua_rawseti(L, -2, (int)(i + 1));
    }
}

void process_register(lua_State *L) {
    static const luaL_Reg methods[] = {{"start_command", box_command},
                                       {"start_process_connect", box_process_connect},
                                       {"start_process_list", box_process_list},
                                       {"start_process_send", box_process_send},
                                       {"start_process_close_stdin", box_process_close_stdin},
                                       {"start_process_signal", box_process_signal},
                                       {"start_process_resize", box_process_resize},
                                       {NULL, NULL}};
    add_methods(L, BOX_TYPE, methods);
}
