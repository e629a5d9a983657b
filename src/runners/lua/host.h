/*
 * host.h - what the Lua runner needs of C: a row of files, each of which adds functions to one
 * table.
 */
#ifndef STEPBOX_LUA_HOST_H
#define STEPBOX_LUA_HOST_H

#include <lauxlib.h>
#include <lua.h>
#include <stdbool.h>

/* The table of functions is on top of the stack. */
void steps_add(lua_State *L);      /* steps.c: the channel */
void streams_add(lua_State *L);    /* streams.c: print and the standard files */
void interrupts_add(lua_State *L); /* interrupts.c: run(), debug.sethook */
void coroutines_add(lua_State *L); /* coroutines.c: resume and wrap */
void programs_add(lua_State *L);   /* programs.c: os.execute, io.popen */

/* False in a process that the code has forked: the protocol is its parent's. */
bool step_is_ours(void);
/* A standard stream is about to be written to (1 or 2), or a child (0), which may write to both.
 * What others wrote before is read by the agent first. */
void step_turn_to(int stream);

/* Opens standard descriptors again that the code has closed. */
void streams_repair(void);

/* A step has begun, or ended: an interrupt that comes before its code runs is for it. */
void interrupts_expect(bool step);

/* A coroutine begins to run, or goes on; while it does, interrupts reach it. */
struct interruptible {
    lua_State *thread;
    struct interruptible *outer;
};
void interrupts_enter(struct interruptible *link, lua_State *thread);
void interrupts_leave(struct interruptible *link);
/* Raises when the step has been interrupted. */
void interrupts_check(lua_State *L);

#endif
