/*
 * file_handle.c - Lua's own file handles as ends of a transfer.
 *
 * The transfer has a descriptor of its own, a duplicate: it shares the position with the handle's,
 * and stays open when the handle is closed in the middle. What stdio has buffered is written out
 * before, and the handle is told of its new position after.
 *
 * OP_TYPE's metatable has a field `kept`: operation userdata -> what lives as long, with weak keys.
 */
#include "binding.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The operation's userdata is on top of the stack; pushes `kept` and it. */
static void push_kept(lua_State *L) {
    luaL_getmetatable(L, OP_TYPE);
    lua_getfield(L, -1, "kept");
    lua_remove(L, -2);
    lua_pushvalue(L, -2);
}

void op_keep(lua_State *L, int index) {
    push_kept(L);
    lua_pushvalue(L, index);
    lua_rawset(L, -3);
    lua_pop(L, 1);
}

static int fail(sb_error *err) {
    *err = (sb_error){.code = SB_SYSTEM};
    snprintf(err->message, sizeof err->message, "the open file: %s", strerror(errno));
    return -1;
}

int op_use_file(lua_State *L, struct lua_op *self, int index, sb_error *err) {
    FILE *file = compat_file(L, index);
    off_t at = ftello(file);
    op_keep(L, index);
    if (fflush(file) != 0)
        return fail(err);
    int fd = fcntl(fileno(file), F_DUPFD_CLOEXEC, 3);
    if (fd < 0)
        return fail(err);
    self->fd = fd;
    /* A stream that was read has its descriptor further on. */
    return at < 0 || lseek(fd, at, SEEK_SET) >= 0 ? 0 : fail(err);
}

void op_release_file(struct lua_op *self) {
    if (self->fd > 0)
        close(self->fd);
    self->fd = 0;
}

/* Devices and pipes have no end to set. */
static void cut(int fd, off_t at) {
    int failed = ftruncate(fd, at);
    (void)failed;
}

/* Called with the operation's userdata on top of the stack, once it is done. */
void op_settle_file(lua_State *L, struct lua_op *self) {
    if (self->fd == 0)
        return;
    push_kept(L);
    lua_rawget(L, -2);
    FILE *file = compat_file(L, -1);
    off_t at = lseek(self->fd, 0, SEEK_CUR);
    /* A failure before the first byte leaves the file as it was. */
    if (self->cuts && (at > 0 || sb_op_error(self->op, NULL) == SB_OK))
        cut(self->fd, at);
    if (file && at >= 0)
        fseeko(file, at, SEEK_SET);
    lua_pop(L, 2);
    op_release_file(self);
}
