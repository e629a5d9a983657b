/* signals.c - signals as something to read: while they are taken they interrupt nothing and kill
 * nobody. */
#include "console.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#define SIGNALS_TYPE "stepbox.signals"

static const struct {
    const char *name;
    int number;
} known[] = {{"HUP", SIGHUP}, {"INT", SIGINT}, {"TERM", SIGTERM}, {"WINCH", SIGWINCH}};

#define KNOWN_COUNT (sizeof known / sizeof *known)

struct signals {
    int fd; /* -1: given back */
    sigset_t before;
};

static int number_of(const char *name) {
    for (size_t i = 0; i < KNOWN_COUNT; i++)
        if (strcmp(known[i].name, name) == 0)
            return known[i].number;
    return 0;
}

/* console.signals({"INT", ...}) -> signals | nil, message, code */
static int console_signals(lua_State *L) {
    luaL_checktype(L, 1, LUA_TTABLE);
    sigset_t wanted;
    sigemptyset(&wanted);
    for (size_t i = 1; i <= lua_rawlen(L, 1); i++) {
        lua_rawgeti(L, 1, (int)i);
        const char *name = lua_tostring(L, -1);
        int number = name ? number_of(name) : 0;
        luaL_argcheck(L, number != 0, 1, "HUP, INT, TERM and WINCH are known");
        sigaddset(&wanted, number);
        lua_pop(L, 1);
    }
    struct signals *self = compat_newuserdata(L, sizeof *self);
    self->fd = -1;
    luaL_getmetatable(L, SIGNALS_TYPE);
    lua_setmetatable(L, -2);
    int fd = signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK);
    if (fd < 0)
        return console_failure(L, "signalfd");
    if (sigprocmask(SIG_BLOCK, &wanted, &self->before) < 0) {
        close(fd);
        return console_failure(L, "sigprocmask");
    }
    self->fd = fd;
    return 1;
}

static struct signals *check(lua_State *L) {
    struct signals *self = luaL_checkudata(L, 1, SIGNALS_TYPE);
    luaL_argcheck(L, self->fd >= 0, 1, "the signals were given back");
    return self;
}

/* signals:descriptor() */
static int signals_descriptor(lua_State *L) {
    lua_pushinteger(L, check(L)->fd);
    return 1;
}

/* signals:read() -> the name of one that came, or nil */
static int signals_read(lua_State *L) {
    struct signals *self = check(L);
    struct signalfd_siginfo info;
    lua_pushnil(L);
    if (read(self->fd, &info, sizeof info) == (ssize_t)sizeof info)
        for (size_t i = 0; i < KNOWN_COUNT; i++)
            if (known[i].number == (int)info.ssi_signo)
                lua_pushstring(L, known[i].name);
    return 1;
}

/* signals:close(): they do again what they did before; those that have come are dropped. May be
 * called again. */
static int signals_close(lua_State *L) {
    struct signals *self = luaL_checkudata(L, 1, SIGNALS_TYPE);
    struct signalfd_siginfo info;
    if (self->fd < 0)
        return 0;
    while (read(self->fd, &info, sizeof info) == (ssize_t)sizeof info) {
    }
    close(self->fd);
    self->fd = -1;
    sigprocmask(SIG_SETMASK, &self->before, NULL);
    return 0;
}

/* console.restore_interrupt(): Ctrl-C ends the program, whereas Lua's own interpreter would raise
 * an error somewhere. Ignored stays ignored. */
static int console_restore_interrupt(lua_State *L) {
    struct sigaction action;
    (void)L;
    if (sigaction(SIGINT, NULL, &action) == 0 && action.sa_handler != SIG_IGN)
        signal(SIGINT, SIG_DFL);
    return 0;
}

void signals_register(lua_State *L) {
    static const luaL_Reg functions[] = {{"signals", console_signals},
                                         {"restore_interrupt", console_restore_interrupt},
                                         {NULL, NULL}};
    static const luaL_Reg meta[] = {
        {"__gc", signals_close}, {"__close", signals_close}, {NULL, NULL}};
    static const luaL_Reg methods[] = {{"descriptor", signals_descriptor},
                                       {"read", signals_read},
                                       {"close", signals_close},
                                       {NULL, NULL}};
    if (luaL_newmetatable(L, SIGNALS_TYPE)) {
        compat_setfuncs(L, meta);
        lua_newtable(L);
        compat_setfuncs(L, methods);
        lua_setfield(L, -2, "__index");
    }
    lua_pop(L, 1);
    compat_setfuncs(L, functions);
}
