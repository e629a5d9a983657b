/*
 * bwrap_args.h - what a sandbox looks like from inside, as arguments of bubblewrap.
 *
 * They go through a descriptor (bwrap --args FD): a process's own arguments are readable by every
 * user of the host, and the id of a sandbox is not for everybody.
 */
#ifndef STEPBOX_BWRAP_ARGS_H
#define STEPBOX_BWRAP_ARGS_H

#include <stdbool.h>
#include <stddef.h>

#include "sandbox_root.h"

/* NUL-terminated strings one behind the other. */
typedef struct argument_list {
    char *bytes;
    size_t used, room;
    bool failed; /* out of memory; everything added later is dropped */
} argument_list;

void argument_list_free(argument_list *list);

typedef struct bwrap_sandbox {
    const char *id, *template_id;
    int status_fd;                   /* bwrap writes JSON about the child there */
    const struct sandbox_root *root; /* as it was built */
} bwrap_sandbox;

/* Everything but the command. */
void bwrap_args_build(argument_list *list, const bwrap_sandbox *sandbox);

#endif
