/* descriptors.c - waiting for several descriptors at once, and reading and writing them without
 * the buffers of Lua's files. */
#include "console.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <unistd.h>

#define MAX_WAITED 16
#define MAX_READ (1024 * 1024)

/* console.wait({fd...}, seconds or nil) -> {[fd] = true} of those that can be read, or are at their
 * end; empty when the time is over or a signal came. */
static int console_wait(lua_State *L) {
    struct pollfd polled[MAX_WAITED];
    luaL_checktype(L, 1, LUA_TTABLE);
    double seconds = luaL_optnumber(L, 2, -1);
    size_t count = lua_rawlen(L, 1);
    luaL_argcheck(L, count <= MAX_WAITED, 1, "too many descriptors");
    for (size_t i = 0; i < count; i++) {
        lua_rawgeti(L, 1, (int)i + 1);
        polled[i] = (struct pollfd){.fd = console_descriptor(L, -1), .events = POLLIN};
        lua_pop(L, 1);
    }
    int milliseconds = seconds < 0 ? -1 : (int)ceil(fmin(seconds, 1e6) * 1000);
    int ready = poll(polled, (nfds_t)count, milliseconds);
    if (ready < 0 && errno != EINTR)
        return console_failure(L, "poll");
    lua_newtable(L);
    for (size_t i = 0; i < count && ready > 0; i++) {
        if (polled[i].revents == 0)
            continue;
        lua_pushboolean(L, 1);
        lua_rawseti(L, -2, polled[i].fd);
    }
    return 1;
}

/* console.read(fd, at_most) -> bytes, "" at the end */
static int console_read(lua_State *L) {
    int fd = console_descriptor(L, 1);
    lua_Number most = luaL_checknumber(L, 2);
    luaL_argcheck(L, most >= 1 && most <= MAX_READ, 2, "must be from 1 to 1048576");
    char *bytes = compat_newuserdata(L, (size_t)most);
    ssize_t got;
    do {
        got = read(fd, bytes, (size_t)most);
    } while (got < 0 && errno == EINTR);
    if (got < 0)
        return console_failure(L, "read");
    lua_pushlstring(L, bytes, (size_t)got);
    return 1;
}

/* console.write(fd, bytes) -> true when all was written */
static int console_write(lua_State *L) {
    int fd = console_descriptor(L, 1);
    size_t length;
    const char *bytes = luaL_checklstring(L, 2, &length);
    while (length > 0) {
        ssize_t written = write(fd, bytes, length);
        if (written >= 0) {
            bytes += written;
            length -= (size_t)written;
        } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
            /* A terminal that another program made non-blocking. */
            struct pollfd polled = {.fd = fd, .events = POLLOUT};
            poll(&polled, 1, -1);
        } else if (errno != EINTR) {
            return console_failure(L, "write");
        }
    }
    lua_pushboolean(L, 1);
    return 1;
}

void descriptors_register(lua_State *L) {
    static const luaL_Reg functions[] = {
        {"wait", console_wait}, {"read", console_read}, {"write", console_write}, {NULL, NULL}};
    compat_setfuncs(L, functions);
}
