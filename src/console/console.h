/*
 * console.h - what the parts of the module stepbox.console share: what a program at a terminal
 * needs and Lua lacks. Private; for lua/stepbox/cli.
 */
#ifndef STEPBOX_CONSOLE_H
#define STEPBOX_CONSOLE_H

#include "../lua/compat.h"

/* nil, "what: reason", "system" from errno ("broken_pipe" for EPIPE). */
int console_failure(lua_State *L, const char *what);

/* A descriptor as argument; raises when it is none. */
int console_descriptor(lua_State *L, int index);

/* Adds functions to the table on top of the stack. */
void terminal_register(lua_State *L);
void descriptors_register(lua_State *L);
void signals_register(lua_State *L);
void replace_file_register(lua_State *L);

#endif
