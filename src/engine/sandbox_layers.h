/*
 * sandbox_layers.h - the layers of a sandbox's file system: what it changes of the host's trees is
 * kept above them, in its own stage.
 */
#ifndef STEPBOX_SANDBOX_LAYERS_H
#define STEPBOX_SANDBOX_LAYERS_H

#include "sandbox_root.h"

/* Mounts them, when everything else is in its place; sets root->layered. 0, or -1 when it has
 * written to stderr why not. */
int sandbox_layers_put(struct sandbox_root *root);

/* sandbox_root.c: writes what could not be done, with errno, to stderr. -1. */
int sandbox_root_complain(const char *what, const char *path);

#endif
