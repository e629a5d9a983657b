/*
 * pause_message.h - what the engine says on the control socket to have a sandbox stand still, and
 * to have it go on. The agent sends each back, with its number, when it has done so.
 */
#ifndef STEPBOX_PAUSE_MESSAGE_H
#define STEPBOX_PAUSE_MESSAGE_H

/* Kinds; neither has descriptors. */
/* The agent stops every process of the sandbox, and then waits for PAUSE_GO. */
#define PAUSE_STOP 'P'
#define PAUSE_GO 'W'
/* flags: the kernel stops and wakes the processes, the agent has to wait alone */
#define PAUSE_FROZEN 0x01

#endif
