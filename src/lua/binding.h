/*
 * binding.h - what the files of the Lua module share.
 *
 * The module is private (stepbox.core); lua/stepbox is the public face. One file per userdata:
 * loop.c, client.c, op.c, forward.c; box.c with contexts.c, process.c, files.c, transfers.c,
 * watch.c, engine.c and life.c for its calls. push.c and entry.c make Lua values of what the core
 * returns, arguments.c and options.c read what callers give.
 *
 * Owners are counted in C (struct loop_owner, struct client_owner), since the order in which a
 * collector finalises userdata of one dead cycle is no business of the core, which wants its loop
 * freed last.
 */
#ifndef STEPBOX_LUA_BINDING_H
#define STEPBOX_LUA_BINDING_H

#include "compat.h"
#include "stepbox.h"

#define LOOP_TYPE "stepbox.loop"
#define CLIENT_TYPE "stepbox.client"
#define BOX_TYPE "stepbox.box"
#define OP_TYPE "stepbox.op"
#define FORWARD_TYPE "stepbox.forward"

struct loop_owner {
    sb_loop *loop;
    size_t references;
};

struct client_owner {
    sb_client *client;
    struct loop_owner *loop;
    size_t references;
};

void loop_owner_release(struct loop_owner *owner);
void client_owner_release(struct client_owner *owner);

/* What op:result() makes of a finished operation. */
enum op_value {
    OP_VALUE_TRUE,
    OP_VALUE_BOX,
    OP_VALUE_INFO,
    OP_VALUE_LIST,
    OP_VALUE_FLAG,
    OP_VALUE_EXECUTION,
    OP_VALUE_CONTEXT,
    OP_VALUE_CONTEXTS,
    OP_VALUE_LANGUAGES,
    OP_VALUE_COMMAND,
    OP_VALUE_PROCESSES,
    OP_VALUE_ENTRY,
    OP_VALUE_ENTRIES,
    OP_VALUE_BYTES,
    OP_VALUE_COUNT,
    OP_VALUE_JSON
};

/* The userdata. Each is born zeroed, gets its metatable, and only then acquires anything. */
struct lua_box {
    sb_box *box;
    struct client_owner *client;
};

struct lua_op {
    sb_op *op;
    enum op_value value;
    struct client_owner *client; /* NULL when it belongs to the loop alone */
    struct loop_owner *loop;     /* NULL when it belongs to a client, which keeps its loop */
    int fd;                      /* owned; 0: none. The other end of a transfer */
    bool cuts;                   /* what the file had behind the transfer's bytes goes */
};

/* A new, still empty userdata with its metatable, on top of the stack. */
struct lua_op *op_new(lua_State *L, struct client_owner *client, enum op_value value);
struct lua_op *op_new_of_loop(lua_State *L, struct loop_owner *loop, enum op_value value);
struct lua_box *box_new(lua_State *L, struct client_owner *client);

/* Finishes a call that started an operation: the op userdata on top of the stack, or nil, message,
 * code. */
int op_started(lua_State *L, struct lua_op *self, sb_op *op, const sb_error *err);

/* Keeps the value at the index alive as long as the operation, whose userdata is on top of the
 * stack. */
void op_keep(lua_State *L, int index);

/* An open file of Lua's at the index as the other end, self->fd. 0, or -1 with err. */
int op_use_file(lua_State *L, struct lua_op *self, int index, sb_error *err);
void op_settle_file(lua_State *L, struct lua_op *self);
void op_release_file(struct lua_op *self);

/* The operation at index 1; raises when it is closed. */
struct lua_op *op_check(lua_State *L);

/* The box at index 1. One whose handle is gone answers like one that the core calls closed. */
struct lua_box *box_check(lua_State *L);
int box_closed(lua_State *L);

struct client_owner *client_check(lua_State *L, int index);
struct loop_owner *loop_check(lua_State *L, int index);

/* nil, message, code: the one place that makes this triple. */
int push_failure(lua_State *L, const sb_error *err);
void push_execution(lua_State *L, const sb_execution *execution);
void push_result(lua_State *L, const sb_result *result);
void push_event(lua_State *L, const sb_event *event);
void push_info(lua_State *L, const sb_info *info);
void push_context(lua_State *L, const sb_context *context);
void push_contexts(lua_State *L, const sb_op *op);
void push_languages(lua_State *L, const sb_op *op);
void push_command(lua_State *L, const sb_op *op);
void push_processes(lua_State *L, const sb_op *op);
void push_entry(lua_State *L, const sb_entry *entry);
void push_entries(lua_State *L, const sb_op *op);
void push_file_event(lua_State *L, const sb_file_event *event);
/* Sets fields of the table on top of the stack; without a value: none, but "" for bytes. */
void set_bytes(lua_State *L, const char *name, const char *data, size_t length);
void set_string(lua_State *L, const char *name, const char *value);
void set_integer(lua_State *L, const char *name, int64_t value);
void set_boolean(lua_State *L, const char *name, bool value);

/* Table fields. The strings live as long as the table; arrays are userdata left on the stack, so
 * callers must have done luaL_checkstack(). Wrong types raise, naming the field. */
const char *field_string(lua_State *L, int table, const char *name);
double field_number(lua_State *L, int table, const char *name, double missing);
int field_boolean(lua_State *L, int table, const char *name); /* 1, -1 or 0: not given */
sb_network field_network(lua_State *L, int table);
const sb_pair *field_pairs(lua_State *L, int table, const char *name, size_t *count);
const char *const *field_strings(lua_State *L, int table, const char *name, size_t *count);

/* Makes metatable `type` with these metamethods, and `methods` as __index unless that is among
 * them. */
/* Arguments. A path: 0, or the count of results that say that it cannot be one, since it has a NUL
 * byte, and names nothing as far as a system is concerned. */
int path_at(lua_State *L, int index, const char **path);
/* The same for the id of a sandbox: cut at a NUL byte it could be another's. */
int id_at(lua_State *L, int index, const char **id);
const char *user_at(lua_State *L, int index);
/* A whole number within what C can hold; what is none is -1, which the core refuses. */
int64_t to_integer(double number);

/* Adds to the methods of a type that is registered. */
void add_methods(lua_State *L, const char *type, const luaL_Reg *methods);
void register_type(lua_State *L, const char *type, const luaL_Reg *meta, const luaL_Reg *methods);

void loop_register(lua_State *L);
void client_register(lua_State *L);
void box_register(lua_State *L);
void op_register(lua_State *L);
void contexts_register(lua_State *L); /* more methods of boxes, after box_register() */
void process_register(lua_State *L);  /* the same */
void files_register(lua_State *L);    /* and of operations, after op_register() too */
void transfers_register(lua_State *L);
void watch_register(lua_State *L);
void forward_register(lua_State *L); /* the same */
void engine_register(lua_State *L);  /* of clients and boxes */
void life_register(lua_State *L);    /* the same */
void network_register(lua_State *L); /* the same */

int loop_create(lua_State *L);
int client_create(lua_State *L);

#endif
