/*
 * interrupts.c - SIGINT: an error in the code of a step, wherever it runs, and nothing else.
 *
 * The error is raised by a hook in the coroutine that runs, and in each one that waits for it. Code
 * that catches it gets some time to clean up, then less and less, until each instruction raises it:
 * so no loop around pcall() outlives it.
 */
#include "host.h"

#include "descendants.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Instructions between the first error and the second; between later ones there are fewer. */
#define GRACE 10000
#define FEWER 10
/* Milliseconds between two looks for processes that the interrupt has not reached yet, looks after
 * which it is for those of earlier steps, too, and looks after which all are killed: one and two
 * seconds. */
#define LOOK_AGAIN 20
#define LOOKS_BEFORE_ALL 50
#define LOOKS_BEFORE_KILL 100
/* A timer's signal, which neither Lua nor its libraries use. */
#define LOOK SIGRTMAX

static struct interruptible *volatile innermost;
static volatile sig_atomic_t expected, early; /* a step has begun, its code has not */
static volatile sig_atomic_t armed, interrupted;
static volatile int looks, instructions, raised;
static struct descendants earlier, told;
static lua_State *main_thread;
static int own_levels; /* of its stack: the runner's */
static timer_t timer;

static void on_hook(lua_State *L, lua_Debug *ar);

static void hook_all(void) {
    for (struct interruptible *link = innermost; link; link = link->outer)
        lua_sethook(link->thread, on_hook, LUA_MASKCOUNT, instructions);
}

static int raise_interrupt(lua_State *L) {
    lua_pushliteral(L, "interrupted");
    return lua_error(L);
}

static void on_hook(lua_State *L, lua_Debug *ar) {
    (void)ar;
    if (!interrupted || !step_is_ours()) {
        lua_sethook(L, NULL, 0, 0); /* a coroutine that was made while there was an interrupt */
        return;
    }
    instructions = raised++ == 0 ? GRACE : instructions > FEWER ? instructions / FEWER : 1;
    hook_all();
    raise_interrupt(L);
}

void interrupts_check(lua_State *L) {
    if (interrupted && armed && step_is_ours())
        raise_interrupt(L);
}

static void set_timer(long milliseconds) {
    struct itimerspec period = {.it_interval.tv_nsec = milliseconds * 1000000,
                                .it_value.tv_nsec = milliseconds * 1000000};
    timer_settime(timer, 0, &period, NULL);
}

/* A file of io.popen() that nobody has closed waits for its program when it is collected, which may
 * be one of an earlier step. */
static void interrupt_children(void) {
    struct descendants nobody = {0};
    if (++looks < LOOKS_BEFORE_KILL)
        descendants_signal(getpid(), SIGINT, looks < LOOKS_BEFORE_ALL ? &earlier : NULL, &told);
    else if (looks == LOOKS_BEFORE_KILL)
        descendants_signal(getpid(), SIGKILL, NULL, &nobody);
}

static void interrupt(void) {
    instructions = 1;
    interrupted = 1;
    looks = 0;
    hook_all();
    interrupt_children();
    set_timer(LOOK_AGAIN);
}

static void on_interrupt(int number) {
    int error = errno;
    if (!step_is_ours()) {
        signal(number, SIG_DFL);
        raise(number);
    } else if (armed) {
        interrupt();
    } else if (expected) {
        early = 1;
    }
    errno = error;
}

static void on_look(int number) {
    int error = errno;
    (void)number;
    if (armed && interrupted && step_is_ours())
        interrupt_children();
    errno = error;
}

void interrupts_expect(bool step) {
    early = 0;
    expected = step;
}

void interrupts_enter(struct interruptible *link, lua_State *thread) {
    link->thread = thread;
    link->outer = innermost;
    innermost = link;
    if (interrupted)
        lua_sethook(thread, on_hook, LUA_MASKCOUNT, instructions);
}

void interrupts_leave(struct interruptible *link) {
    innermost = link->outer;
}

static void handle(int number, void (*handler)(int)) {
    struct sigaction action = {.sa_handler = handler}; /* no SA_RESTART: what waits is to end */
    sigaddset(&action.sa_mask, SIGINT); /* both change the list of those that were told */
    sigaddset(&action.sa_mask, LOOK);
    sigaction(number, &action, NULL);
}

static int depth(lua_State *L) {
    lua_Debug ar;
    int levels = 0;
    while (lua_getstack(L, levels, &ar))
        levels++;
    return levels;
}

/* Pushes the traceback of a thread without its last lines when those are the runner's. */
static void push_traceback(lua_State *L, lua_State *of, const char *message, int level) {
    size_t length;
    luaL_traceback(L, of, message, level);
    if (of != main_thread || !step_is_ours())
        return;
    const char *text = lua_tolstring(L, -1, &length);
    const char *heading = message ? text + strlen(message) : text;
    for (int lines = own_levels; lines && text + length > heading; lines--) {
        do
            length--;
        while (text + length > heading && text[length] != '\n');
    }
    lua_pushlstring(L, text, length);
    lua_remove(L, -2);
}

static int add_traceback(lua_State *L) {
    push_traceback(L, L, NULL, 1);
    lua_replace(L, lua_upvalueindex(1));
    return 1;
}

/* debug.traceback: of the code alone */
static int traceback(lua_State *L) {
    lua_State *of = lua_tothread(L, 1);
    int first = of ? 2 : 1;
    if (!of)
        of = L;
    if (!lua_isnoneornil(L, first) && !lua_isstring(L, first)) {
        lua_settop(L, first);
        return 1;
    }
    int level = (int)luaL_optinteger(L, first + 1, of == L ? 1 : 0);
    push_traceback(L, of, lua_tostring(L, first), level);
    return 1;
}

/* Everything as it is between steps. */
static bool disarm(lua_State *L) {
    bool was_interrupted = interrupted;
    armed = 0;
    interrupted = 0;
    innermost = NULL;
    set_timer(0);
    if (was_interrupted)
        lua_sethook(L, NULL, 0, 0);
    return was_interrupted;
}

/* run(FUNCTION, ARGUMENT): the code of a step. True and its values, or false, what was raised, the
 * traceback, and whether it was interrupted. */
static int run(lua_State *L) {
    struct interruptible link;
    main_thread = L;
    own_levels = depth(L);
    lua_settop(L, lua_isnil(L, 2) ? 1 : 2);
    lua_pushnil(L);
    lua_pushcclosure(L, add_traceback, 1);
    lua_insert(L, 1);
    descendants_of(getpid(), NULL, &earlier);
    told.count = 0;
    handle(SIGINT, on_interrupt);
    handle(LOOK, on_look);
    interrupts_enter(&link, L);
    raised = 0;
    armed = 1;
    if (early)
        interrupt();
    interrupts_expect(false);
    streams_repair();
    int status = lua_pcall(L, lua_gettop(L) - 2, LUA_MULTRET, 1);
    bool was_interrupted = disarm(L);
    lua_pushboolean(L, status == LUA_OK);
    lua_insert(L, 2);
    if (status == LUA_OK)
        return lua_gettop(L) - 1;
    lua_getupvalue(L, 1, 1);
    lua_pushboolean(L, was_interrupted);
    return 4;
}

/* debug.sethook: the code may set its own hooks, but not take away one that interrupts it */
static int sethook(lua_State *L) {
    interrupts_check(L);
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_insert(L, 1);
    lua_call(L, lua_gettop(L) - 1, LUA_MULTRET);
    return lua_gettop(L);
}

void interrupts_add(lua_State *L) {
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = LOOK};
    handle(SIGINT, on_interrupt);
    handle(LOOK, on_look);
    if (timer_create(CLOCK_MONOTONIC, &event, &timer))
        luaL_error(L, "no timer: %s", strerror(errno));
    lua_pushcfunction(L, run);
    lua_setfield(L, -2, "run");
    lua_getglobal(L, "debug");
    lua_getfield(L, -1, "sethook");
    lua_pushcclosure(L, sethook, 1);
    lua_setfield(L, -2, "sethook");
    lua_pushcfunction(L, traceback);
    lua_setfield(L, -2, "traceback");
    lua_pop(L, 1);
}
