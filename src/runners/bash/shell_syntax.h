/*
 * shell_syntax.h - whether code can be read as a whole, before any of it is run.
 */
#ifndef STEPBOX_BASH_SHELL_SYNTAX_H
#define STEPBOX_BASH_SHELL_SYNTAX_H

#include <stdbool.h>
#include <stddef.h>

/* Where the text of messages begins with what `bash` calls itself. */
#define SHELL_NAME "bash"

/* True when it can, or when only running it can tell: `alias` changes what follows. Otherwise
 * bash's own messages are in `text`. */
bool shell_syntax_is_right(const char *code, char *text, size_t room, size_t *length);

#endif
