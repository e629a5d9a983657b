/* contexts.c - the contexts of a box: more methods of boxes. lua/stepbox/context.lua makes objects
 * of what they give. */
#include "binding.h"

#include <string.h>

/* The id of a context at index 2: cut at a NUL byte it could be another's. 0, or the count of
 * results that say so. */
static int context_at(lua_State *L, const char **id) {
    size_t length;
    *id = luaL_checklstring(L, 2, &length);
    if (strlen(*id) == length)
        return 0;
    sb_error err = {.code = SB_INVALID, .message = "context: not a context's id"};
    return push_failure(L, &err);
}

typedef sb_op *start_on_context(sb_box *box, const char *id, sb_error *err);

static int start(lua_State *L, const char *id, start_on_context *fn, enum op_value value) {
    struct lua_box *self = box_check(L);
    if (!self->box)
        return box_closed(L);
    struct lua_op *op = op_new(L, self->client, value);
    sb_error err;
    return op_started(L, op, fn(self->box, id, &err), &err);
}

/* box:start_new_context({language, cwd, envs}) */
static int new_context(lua_State *L) {
    struct lua_box *self = box_check(L);
    luaL_checktype(L, 2, LUA_TTABLE);
    luaL_checkstack(L, 8, NULL);
    sb_context_options options = {0};
    options.language = field_string(L, 2, "language");
    options.cwd = field_string(L, 2, "cwd");
    options.envs = field_pairs(L, 2, "envs", &options.env_count);
    if (!self->box)
        return box_closed(L);
    struct lua_op *op = op_new(L, self->client, OP_VALUE_CONTEXT);
    sb_error err;
    return op_started(L, op, sb_box_new_context(self->box, &options, &err), &err);
}

static int contexts(lua_State *L) {
    struct lua_box *self = box_check(L);
    if (!self->box)
        return box_closed(L);
    struct lua_op *op = op_new(L, self->client, OP_VALUE_CONTEXTS);
    sb_error err;
    return op_started(L, op, sb_box_contexts(self->box, &err), &err);
}

static int languages(lua_State *L) {
    struct lua_box *self = box_check(L);
    if (!self->box)
        return box_closed(L);
    struct lua_op *op = op_new(L, self->client, OP_VALUE_LANGUAGES);
    sb_error err;
    return op_started(L, op, sb_box_languages(self->box, &err), &err);
}

/* box:start_restart_context(id) */
static int restart_context(lua_State *L) {
    const char *id;
    int failed = context_at(L, &id);
    return failed ? failed : start(L, id, sb_box_restart_context, OP_VALUE_TRUE);
}

/* box:start_remove_context(id) */
static int remove_context(lua_State *L) {
    const char *id;
    int failed = context_at(L, &id);
    return failed ? failed : start(L, id, sb_box_remove_context, OP_VALUE_TRUE);
}

/* box:start_interrupt(id or nil) */
static int interrupt(lua_State *L) {
    const char *id = NULL;
    int failed = lua_isnoneornil(L, 2) ? 0 : context_at(L, &id);
    return failed ? failed : start(L, id, sb_box_interrupt, OP_VALUE_FLAG);
}

/* box:is_local(): whether it is in the local engine */
static int is_local(lua_State *L) {
    const struct lua_box *self = box_check(L);
    lua_pushboolean(L, self->client && sb_client_is_local(self->client->client));
    return 1;
}

void push_context(lua_State *L, const sb_context *context) {
    luaL_checkstack(L, 4, NULL);
    lua_createtable(L, 0, 4);
    set_string(L, "id", context->id);
    set_string(L, "language", context->language);
    set_string(L, "cwd", context->cwd);
}

void push_contexts(lua_State *L, const sb_op *op) {
    size_t count = sb_op_context_count(op);
    luaL_checkstack(L, 6, NULL);
    lua_createtable(L, (int)count, 0);
    for (size_t i = 0; i < count; i++) {
        push_context(L, sb_op_context(op, i));
        lua_rawseti(L, -2, (int)(i + 1));
    }
}

static void push_language(lua_State *L, const sb_language *language) {
    lua_createtable(L, 0, 4);
    set_string(L, "name", language->name);
    set_string(L, "message", language->message);
    set_boolean(L, "available", language->available);
    lua_createtable(L, (int)language->alias_count, 0);
    for (size_t i = 0; i < language->alias_count; i++) {
        lua_pushstring(L, language->aliases[i]);
        lua_rawseti(L, -2, (int)(i + 1));
    }
    lua_setfield(L, -2, "aliases");
}

void push_languages(lua_State *L, const sb_op *op) {
    size_t count = sb_op_language_count(op);
    luaL_checkstack(L, 8, NULL);
    lua_createtable(L, (int)count, 0);
    for (size_t i = 0; i < count; i++) {
        push_language(L, sb_op_language(op, i));
        lua_rawseti(L, -2, (int)(i + 1));
    }
}

void contexts_register(lua_State *L) {
    static const luaL_Reg methods[] = {{"start_new_context", new_context},
                                       {"start_contexts", contexts},
                                       {"start_languages", languages},
                                       {"start_restart_context", restart_context},
                                       {"start_remove_context", remove_context},
                                       {"start_interrupt", interrupt},
                                       {"is_local", is_local},
                                       {NULL, NULL}};
    add_methods(L, BOX_TYPE, methods);
}
