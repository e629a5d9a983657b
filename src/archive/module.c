/* module.c - luaopen_stepbox_archive: directories as tar streams, for lua/stepbox. Private. */
#include "stepbox_archive.h"

#include "../lua/compat.h"

#include <string.h>

#define PACK_TYPE "stepbox.pack"
#define UNPACK_TYPE "stepbox.unpack"

#define MAX_READ (16 * 1024 * 1024)

struct lua_pack {
    sb_pack *pack; /* NULL: closed */
};

struct lua_unpack {
    sb_unpack *unpack; /* NULL: closed */
};

/* nil, message, code */
static int push_failure(lua_State *L, const sb_error *err) {
    lua_pushnil(L);
    lua_pushstring(L, err->message);
    lua_pushstring(L, sb_code_name(err->code));
    return 3;
}

static int push_status(lua_State *L, int status, const sb_error *err) {
    if (status != 0) {
        return push_failure(L, err);
    }
    lua_pushboolean(L, 1);
    return 1;
}

static const char *check_directory(lua_State *L) {
    size_t length;
    const char *directory = luaL_checklstring(L, 1, &length);
    luaL_argcheck(L, strlen(directory) == length, 1, "must not contain a NUL byte");
    return directory;
}

/* archive.pack(directory) -> pack | nil, message, code */
static int new_pack(lua_State *L) {
    const char *directory = check_directory(L);
    struct lua_pack *self = compat_newuserdata(L, sizeof *self);
    self->pack = NULL;
    luaL_getmetatable(L, PACK_TYPE);
    lua_setmetatable(L, -2);
    sb_error err;
    self->pack = sb_pack_new(directory, &err);
    return self->pack != NULL ? 1 : push_failure(L, &err);
}

/* pack:read(n) -> at most n bytes, "" at the end | nil, message, code */
static int pack_read(lua_State *L) {
    struct lua_pack *self = luaL_checkudata(L, 1, PACK_TYPE);
    lua_Number size = luaL_checknumber(L, 2);
    luaL_argcheck(L, self->pack != NULL, 1, "the pack is closed");
    luaL_argcheck(L, size >= 1 && size <= MAX_READ, 2, "must be from 1 to 16777216");
    char *bytes = compat_newuserdata(L, (size_t)size);
    sb_error err;
    int64_t count = sb_pack_read(self->pack, bytes, (size_t)size, &err);
    if (count < 0) {
        return push_failure(L, &err);
    }
    lua_pushlstring(L, bytes, (size_t)count);
    return 1;
}

/* Also __gc and __close: safe to call twice. */
static int pack_close(lua_State *L) {
    struct lua_pack *self = luaL_checkudata(L, 1, PACK_TYPE);
    sb_pack *pack = self->pack;
    self->pack = NULL;
    sb_pack_free(pack);
    lua_pushboolean(L, 1);
    return 1;
}

/* archive.unpack(directory) -> unpack | nil, message, code */
static int new_unpack(lua_State *L) {
    const char *directory = check_directory(L);
    struct lua_unpack *self = compat_newuserdata(L, sizeof *self);
    self->unpack = NULL;
    luaL_getmetatable(L, UNPACK_TYPE);
    lua_setmetatable(L, -2);
    sb_error err;
    self->unpack = sb_unpack_new(directory, &err);
    return self->unpack != NULL ? 1 : push_failure(L, &err);
}

static sb_unpack *check_unpack(lua_State *L) {
    struct lua_unpack *self = luaL_checkudata(L, 1, UNPACK_TYPE);
    luaL_argcheck(L, self->unpack != NULL, 1, "the unpack is closed");
    return self->unpack;
}

/* unpack:write(bytes) -> true | nil, message, code */
static int unpack_write(lua_State *L) {
    sb_unpack *unpack = check_unpack(L);
    size_t length;
    const char *bytes = luaL_checklstring(L, 2, &length);
    sb_error err;
    return push_status(L, sb_unpack_write(unpack, bytes, length, &err), &err);
}

/* unpack:finish() -> true | nil, message, code: the stream was not whole, or its end cannot be
 * made */
static int unpack_finish(lua_State *L) {
    sb_error err;
    return push_status(L, sb_unpack_end(check_unpack(L), &err), &err);
}

static int unpack_close(lua_State *L) {
    struct lua_unpack *self = luaL_checkudata(L, 1, UNPACK_TYPE);
    sb_unpack *unpack = self->unpack;
    self->unpack = NULL;
    sb_unpack_free(unpack);
    lua_pushboolean(L, 1);
    return 1;
}

static void register_type(lua_State *L, const char *type, const luaL_Reg *meta,
                          const luaL_Reg *methods) {
    if (luaL_newmetatable(L, type)) {
        compat_setfuncs(L, meta);
        lua_newtable(L);
        compat_setfuncs(L, methods);
        lua_setfield(L, -2, "__index");
    }
    lua_pop(L, 1);
}

SB_API int luaopen_stepbox_archive(lua_State *L);

SB_API int luaopen_stepbox_archive(lua_State *L) {
    static const luaL_Reg functions[] = {{"pack", new_pack}, {"unpack", new_unpack}, {NULL, NULL}};
    static const luaL_Reg pack_meta[] = {
        {"__gc", pack_close}, {"__close", pack_close}, {NULL, NULL}};
    static const luaL_Reg pack_methods[] = {
        {"read", pack_read}, {"close", pack_close}, {NULL, NULL}};
    static const luaL_Reg unpack_meta[] = {
        {"__gc", unpack_close}, {"__close", unpack_close}, {NULL, NULL}};
    static const luaL_Reg unpack_methods[] = {
        {"write", unpack_write}, {"finish", unpack_finish}, {"close", unpack_close}, {NULL, NULL}};
    register_type(L, PACK_TYPE, pack_meta, pack_methods);
    register_type(L, UNPACK_TYPE, unpack_meta, unpack_methods);
    lua_newtable(L);
    compat_setfuncs(L, functions);
    return 1;
}
