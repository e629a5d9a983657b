/* client.c - the client userdata: an account or engine, and the calls that need no box. */
#include "binding.h"

#include <math.h>
#include <stdlib.h>

struct lua_client {
    struct client_owner *owner;
};

void client_owner_release(struct client_owner *owner) {
    if (owner && --owner->references == 0) {
        sb_client_free(owner->client);
        loop_owner_release(owner->loop);
        free(owner);
    }
}

struct client_owner *client_check(lua_State *L, int index) {
    struct lua_client *self = luaL_checkudata(L, index, CLIENT_TYPE);
    luaL_argcheck(L, self->owner, index, "the client is closed");
    return self->owner;
}

/* core.client(loop, {api_key, domain, api_url, sandbox_url, proxy, ca_file, socket, engine,
 * headers, request_timeout}) -> client | nil, message, code */
int client_create(lua_State *L) {
    struct loop_owner *loop = loop_check(L, 1);
    luaL_checktype(L, 2, LUA_TTABLE);
    luaL_checkstack(L, 8, NULL);
    sb_client_options options = {0};
    options.api_key = field_string(L, 2, "api_key");
    options.domain = field_string(L, 2, "domain");
    options.api_url = field_string(L, 2, "api_url");
    options.sandbox_url = field_string(L, 2, "sandbox_url");
    options.proxy = field_string(L, 2, "proxy");
    options.ca_file = field_string(L, 2, "ca_file");
    options.socket = field_string(L, 2, "socket");
    options.engine = field_string(L, 2, "engine");
    options.request_timeout = field_number(L, 2, "request_timeout", 0);
    options.headers = field_pairs(L, 2, "headers", &options.header_count);

    struct lua_client *self = compat_newuserdata(L, sizeof *self);
    self->owner = NULL;
    luaL_getmetatable(L, CLIENT_TYPE);
    lua_setmetatable(L, -2);
    sb_error err;
    sb_client *client = sb_client_new(loop->loop, &options, &err);
    if (!client)
        return push_failure(L, &err);
    self->owner = malloc(sizeof *self->owner);
    if (!self->owner) {
        sb_client_free(client);
        return luaL_error(L, "out of memory");
    }
    *self->owner = (struct client_owner){.client = client, .loop = loop, .references = 1};
    loop->references++;
    return 1;
}

static int client_close(lua_State *L) {
    struct lua_client *self = luaL_checkudata(L, 1, CLIENT_TYPE);
    struct client_owner *owner = self->owner;
    self->owner = NULL;
    client_owner_release(owner);
    return 0;
}

static int client_is_local(lua_State *L) {
    lua_pushboolean(L, sb_client_is_local(client_check(L, 1)->client));
    return 1;
}

static uint32_t count_of(lua_State *L, int table, const char *name) {
    return (uint32_t)fmax(0, fmin(field_number(L, table, name, 0), UINT32_MAX));
}

static sb_limits limits_of(lua_State *L, int table) {
    return (sb_limits){.memory = field_number(L, table, "memory", 0),
                       .cpus = field_number(L, table, "cpus", 0),
                       .disk = field_number(L, table, "disk", 0),
                       .processes = count_of(L, table, "processes"),
                       .open_files = count_of(L, table, "open_files"),
                       .output = field_number(L, table, "output", 0)};
}

/* client:start_create({template, timeout, envs, metadata, setup, allow_internet, auto_pause,
 * auto_resume, idempotency_key, request_timeout, events, memory, cpus, disk, processes,
 * open_files, output, and those of start_set_network}) */
static int client_start_create(lua_State *L) {
    struct client_owner *client = client_check(L, 1);
    luaL_checktype(L, 2, LUA_TTABLE);
    luaL_checkstack(L, 20, NULL);
    sb_create_options options = {0};
    options.template_id = field_string(L, 2, "template");
    options.timeout = field_number(L, 2, "timeout", 0);
    options.request_timeout = field_number(L, 2, "request_timeout", 0);
    options.allow_internet = field_boolean(L, 2, "allow_internet");
    options.events = field_boolean(L, 2, "events") == 1;
    options.idempotency_key = field_string(L, 2, "idempotency_key");
    options.auto_pause = field_boolean(L, 2, "auto_pause") == 1;
    options.auto_resume = field_boolean(L, 2, "auto_resume") == 1;
    options.limits = limits_of(L, 2);
    sb_network network = field_network(L, 2);
    options.network = &network;
    options.envs = field_pairs(L, 2, "envs", &options.env_count);
    options.metadata = field_pairs(L, 2, "metadata", &options.metadata_count);
    options.setup = field_strings(L, 2, "setup", &options.setup_count);
    struct lua_op *op = op_new(L, client, OP_VALUE_BOX);
    sb_error err;
    return op_started(L, op, sb_create(client->client, &options, &err), &err);
}

/* client:start_connect(id, {timeout, request_timeout, own, resume}) */
static int client_start_connect(lua_State *L) {
    struct client_owner *client = client_check(L, 1);
    const char *id;
    luaL_checktype(L, 3, LUA_TTABLE);
    int failed = id_at(L, 2, &id);
    if (failed)
        return failed;
    sb_connect_options options = {0};
    options.timeout = field_number(L, 3, "timeout", 0);
    options.request_timeout = field_number(L, 3, "request_timeout", 0);
    options.own = field_boolean(L, 3, "own") == 1;
    options.leave_paused = field_boolean(L, 3, "resume") == -1;
    struct lua_op *op = op_new(L, client, OP_VALUE_BOX);
    sb_error err;
    return op_started(L, op, sb_connect(client->client, id, &options, &err), &err);
}

static int client_start_kill(lua_State *L) {
    struct client_owner *client = client_check(L, 1);
    const char *id;
    int failed = id_at(L, 2, &id);
    if (failed)
        return failed;
    struct lua_op *op = op_new(L, client, OP_VALUE_TRUE);
    sb_error err;
    return op_started(L, op, sb_kill(client->client, id, &err), &err);
}

/* client:start_list({metadata, states, limit, next_token}) */
static int client_start_list(lua_State *L) {
    struct client_owner *client = client_check(L, 1);
    luaL_checktype(L, 2, LUA_TTABLE);
    luaL_checkstack(L, 8, NULL);
    sb_list_options options = {0};
    options.next_token = field_string(L, 2, "next_token");
    options.limit = (int)fmin(field_number(L, 2, "limit", 0), 1e6);
    options.metadata = field_pairs(L, 2, "metadata", &options.metadata_count);
    options.states = field_strings(L, 2, "states", &options.state_count);
    struct lua_op *op = op_new(L, client, OP_VALUE_LIST);
    sb_error err;
    return op_started(L, op, sb_list(client->client, &options, &err), &err);
}

void client_register(lua_State *L) {
    static const luaL_Reg meta[] = {{"__gc", client_close}, {NULL, NULL}};
    static const luaL_Reg methods[] = {
        {"is_local", client_is_local},           {"start_create", client_start_create},
        {"start_connect", client_start_connect}, {"start_kill", client_start_kill},
        {"start_list", client_start_list},       {NULL, NULL}};
    register_type(L, CLIENT_TYPE, meta, methods);
}
