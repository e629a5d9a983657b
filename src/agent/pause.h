/*
 * pause.h - the sandbox stands still: its processes are stopped and the agent waits, until the
 * engine says PAUSE_GO (pause_message.h).
 *
 * Connections stay as they are; what clients send meanwhile waits in the sockets. Time stops for
 * the agent: its deadlines are as far away afterwards as before.
 */
#ifndef STEPBOX_PAUSE_H
#define STEPBOX_PAUSE_H

#include "control_message.h"

#include <ev.h>
#include <stdbool.h>

/* What the agent does with everything else that was sent before the pause: it is taken. */
typedef void pause_take(control_message *message, void *user);

/* Follows PAUSE_STOP (its flags go back with it), and returns when the sandbox goes on; false when
 * the engine has gone. Called from within the loop. Only as process 1. */
bool pause_follow(struct ev_loop *loop, int control_fd, const control_message *word,
                  pause_take *take, void *user);

#endif
