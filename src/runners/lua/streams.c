/*
 * streams.c - the standard output and error of the process: what is written to them is seen at
 * once, and in order.
 *
 * Both C streams are replaced by ones without a buffer that ask the agent to read what was written
 * before, whenever the stream changes. So print, io.write, io.stderr, warn and libraries in C are
 * all alike.
 */
#include "host.h"

#include "high_descriptor.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Copies of the descriptors, for when the code has closed them. */
#define KEPT_FROM 900

static int kept[3] = {-1, -1, -1};

/* The code may have closed the descriptor. */
static bool reopen(int fd) {
    return fcntl(fd, F_GETFD) < 0 && errno == EBADF && dup2(kept[fd], fd) == fd;
}

void streams_repair(void) {
    for (int fd = 0; fd < 3; fd++)
        reopen(fd);
}

static ssize_t write_stream(void *cookie, const char *bytes, size_t length) {
    int fd = (int)(intptr_t)cookie;
    size_t written = 0;
    step_turn_to(fd);
    while (written < length) {
        ssize_t now = write(fd, bytes + written, length - written);
        if (now >= 0)
            written += (size_t)now;
        else if (errno == EBADF ? !reopen(fd) : errno != EINTR)
            break;
    }
    return (ssize_t)written;
}

static FILE *make_stream(int fd) {
    static const cookie_io_functions_t functions = {.write = write_stream};
    FILE *file = fopencookie((void *)(intptr_t)fd, "w", functions);
    kept[fd] = high_descriptor(fd, KEPT_FROM);
    if (file)
        setvbuf(file, NULL, _IONBF, 0);
    return file;
}

/* print(): a line in one piece */
static int print(lua_State *L) {
    int count = lua_gettop(L);
    luaL_Buffer buffer;
    luaL_buffinit(L, &buffer);
    for (int i = 1; i <= count; i++) {
        if (i > 1)
            luaL_addchar(&buffer, '\t');
        luaL_tolstring(L, i, NULL);
        luaL_addvalue(&buffer);
    }
    luaL_addchar(&buffer, '\n');
    luaL_pushresult(&buffer);
    size_t length;
    const char *line = lua_tolstring(L, -1, &length);
    fwrite(line, 1, length, stdout);
    return 0;
}

/* Puts the stream behind the file that Lua has. */
static void replace(lua_State *L, const char *name, FILE *file) {
    lua_getglobal(L, "io");
    lua_getfield(L, -1, name);
    luaL_Stream *stream = luaL_checkudata(L, -1, LUA_FILEHANDLE);
    stream->f = file;
    lua_pop(L, 2);
}

void streams_add(lua_State *L) {
    kept[0] = high_descriptor(0, KEPT_FROM);
    FILE *out = make_stream(1), *err = make_stream(2);
    if (!out || !err)
        luaL_error(L, "the standard streams cannot be used");
    replace(L, "stdout", out);
    replace(L, "stderr", err);
    stdout = out;
    stderr = err;
    lua_pushcfunction(L, print);
    lua_setglobal(L, "print");
}
