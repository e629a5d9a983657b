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
/* flags: connections that clients only keep open stay, since what comes on them has it go on */
#define PAUSE_KEEP 0x08
/* flags of what is sent back: a request had come that the agent did not get to, and that waits now
 */
#define PAUSE_HEARD 0x02
/* the same of requests that the agent is at work on: somebody waits for their answers */
#define PAUSE_UNDER_WAY 0x04

#endif
