/*
 * editor.c - luaopen_stepbox_editor: lines typed at a terminal, edited by libedit, with a history.
 * A module of its own, so that only who edits lines loads libedit. Private; for lua/stepbox/cli.
 *
 * Signals are taken from a signalfd of stepbox.console: Ctrl-C ends the line, a change of the
 * window's size is followed, and nothing is done inside a signal handler.
 */
#include "../lua/compat.h"

#include <errno.h>
#include <fcntl.h>
#include <histedit.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>
#include <wchar.h>

#define EDITOR_TYPE "stepbox.editor"
#define HISTORY_SIZE 1000
/* Of one remembered text; what is longer is not kept. */
#define HISTORY_TEXT (64 * 1024)

struct editor {
    EditLine *lines; /* NULL: closed */
    History *history;
    int signal_fd; /* borrowed */
    bool interrupted, ended;
    char prompt[128];
    char path[PATH_MAX]; /* of the history; "": none is kept */
};

static const char *prompt(EditLine *lines) {
    struct editor *self;
    el_get(lines, EL_CLIENTDATA, &self);
    return self->prompt;
}

/* Takes what signals have come. False when the line shall end. */
static bool take_signals(struct editor *self, EditLine *lines) {
    struct signalfd_siginfo info;
    while (read(self->signal_fd, &info, sizeof info) == (ssize_t)sizeof info) {
        if (info.ssi_signo == SIGINT)
            self->interrupted = true;
        else if (info.ssi_signo == SIGWINCH)
            el_resize(lines);
        else
            self->ended = true; /* SIGHUP, SIGTERM */
    }
    return !self->interrupted && !self->ended;
}

/* One byte of what is typed. 1, 0 at the end, -1 when a signal ends the line. */
static int next_byte(struct editor *self, EditLine *lines, char *byte) {
    for (;;) {
        struct pollfd polled[] = {{.fd = STDIN_FILENO, .events = POLLIN},
                                  {.fd = self->signal_fd, .events = POLLIN}};
        if (poll(polled, 2, -1) < 0 && errno != EINTR)
            return -1;
        if (polled[1].revents && !take_signals(self, lines))
            return -1;
        if (!polled[0].revents)
            continue;
        ssize_t got = read(STDIN_FILENO, byte, 1);
        if (got < 0 && (errno == EINTR || errno == EAGAIN))
            continue;
        if (got != 1)
            self->ended = true;
        return got == 1 ? 1 : 0;
    }
}

/* What libedit calls for the next character. Bytes that are no text are left out. */
static int next_character(EditLine *lines, wchar_t *character) {
    struct editor *self;
    mbstate_t state = {0};
    char byte;
    el_get(lines, EL_CLIENTDATA, &self);
    for (;;) {
        int got = next_byte(self, lines, &byte);
        if (got != 1)
            return got;
        size_t used = mbrtowc(character, &byte, 1, &state);
        if (used == 1 || used == 0)
            return 1;
        if (used == (size_t)-1)
            memset(&state, 0, sizeof state);
    }
}

static int editor_close(lua_State *L) {
    struct editor *self = luaL_checkudata(L, 1, EDITOR_TYPE);
    if (self->lines)
        el_end(self->lines);
    if (self->history)
        history_end(self->history);
    self->lines = NULL;
    self->history = NULL;
    return 0;
}

static struct editor *check(lua_State *L) {
    struct editor *self = luaL_checkudata(L, 1, EDITOR_TYPE);
    luaL_argcheck(L, self->lines, 1, "the editor is closed");
    return self;
}

static void set_up(struct editor *self) {
    HistEvent event;
    history(self->history, &event, H_SETSIZE, HISTORY_SIZE);
    history(self->history, &event, H_SETUNIQUE, 1);
    if (self->path[0])
        history(self->history, &event, H_LOAD, self->path); /* the first time there is none */
    el_set(self->lines, EL_CLIENTDATA, self);
    el_set(self->lines, EL_EDITOR, "emacs");
    el_set(self->lines, EL_SIGNAL, 0);
    el_set(self->lines, EL_HIST, history, self->history);
    el_set(self->lines, EL_PROMPT, prompt);
    el_set(self->lines, EL_GETCFN, next_character);
    el_set(self->lines, EL_BIND, "^R", "em-inc-search-prev", NULL);
    el_source(self->lines, NULL); /* the user's ~/.editrc has the last word about keys */
}

/* editor.new(descriptor of signals, path of the history or nil) -> editor | nil, message, code */
static int editor_new(lua_State *L) {
    int signal_fd = (int)luaL_checknumber(L, 1);
    const char *path = luaL_optstring(L, 2, "");
    luaL_argcheck(L, strlen(path) < sizeof((struct editor *)NULL)->path - 8, 2, "is too long");
    struct editor *self = compat_newuserdata(L, sizeof *self);
    *self = (struct editor){.signal_fd = signal_fd};
    luaL_getmetatable(L, EDITOR_TYPE);
    lua_setmetatable(L, -2);
    strcpy(self->path, path);
    self->history = history_init();
    self->lines = self->history ? el_init("stepbox", stdin, stdout, stderr) : NULL;
    if (!self->lines) {
        lua_pushnil(L);
        lua_pushliteral(L, "the line editor cannot be set up on this terminal");
        lua_pushliteral(L, "system");
        return 3;
    }
    set_up(self);
    return 1;
}

/* editor:read(prompt) -> line without its end | nil, "interrupted" or "ended" */
static int editor_read(lua_State *L) {
    struct editor *self = check(L);
    snprintf(self->prompt, sizeof self->prompt, "%s", luaL_checkstring(L, 2));
    self->interrupted = self->ended = false;
    int count = 0;
    const char *line = el_gets(self->lines, &count);
    if (self->interrupted || self->ended || !line || count <= 0) {
        lua_pushnil(L);
        lua_pushstring(L, self->interrupted ? "interrupted" : "ended");
        return 2;
    }
    size_t length = strlen(line);
    while (length > 0 && (line[length - 1] == '\n' || line[length - 1] == '\r'))
        length--;
    lua_pushlstring(L, line, length);
    return 1;
}

/* Writes the history beside its file and puts it in place, so that it is never half there. */
static int save(const struct editor *self) {
    char path[PATH_MAX + 16];
    HistEvent event;
    snprintf(path, sizeof path, "%s.%ld", self->path, (long)getpid());
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    FILE *file = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (!file) {
        if (fd >= 0)
            close(fd);
        return -1;
    }
    int written = history(self->history, &event, H_SAVE_FP, file);
    int closed = fclose(file);
    if (written < 0 || closed != 0 || rename(path, self->path) < 0) {
        unlink(path);
        return -1;
    }
    return 0;
}

/* editor:remember(text) -> whether it could be saved */
static int editor_remember(lua_State *L) {
    struct editor *self = check(L);
    size_t length;
    const char *text = luaL_checklstring(L, 2, &length);
    HistEvent event;
    if (length == 0 || length > HISTORY_TEXT || memchr(text, '\0', length)) {
        lua_pushboolean(L, 1);
        return 1;
    }
    history(self->history, &event, H_ENTER, text);
    lua_pushboolean(L, !self->path[0] || save(self) == 0);
    return 1;
}

__attribute__((visibility("default"))) int luaopen_stepbox_editor(lua_State *L);

__attribute__((visibility("default"))) int luaopen_stepbox_editor(lua_State *L) {
    static const luaL_Reg meta[] = {
        {"__gc", editor_close}, {"__close", editor_close}, {NULL, NULL}};
    static const luaL_Reg methods[] = {{"read", editor_read},
                                       {"remember", editor_remember},
                                       {"close", editor_close},
                                       {NULL, NULL}};
    static const luaL_Reg functions[] = {{"new", editor_new}, {NULL, NULL}};
    if (luaL_newmetatable(L, EDITOR_TYPE)) {
        compat_setfuncs(L, meta);
        lua_newtable(L);
        compat_setfuncs(L, methods);
        lua_setfield(L, -2, "__index");
    }
    lua_pop(L, 1);
    lua_newtable(L);
    compat_setfuncs(L, functions);
    return 1;
}
