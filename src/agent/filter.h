/*
 * filter.h - the agent puts itself, and with that all that it ever starts, under the sandbox's
 * filter of system calls.
 */
#ifndef STEPBOX_FILTER_H
#define STEPBOX_FILTER_H

/* Installs the program for seccomp(2) in the file program_fd (closed, also on failure), and sends
 * the listener, on which refused calls are answered, to the engine at control_fd. Nobody here may
 * keep that: who has it decides about the calls. Where the kernel gives no listener, the program is
 * one that needs none. 0, or -1 with errno: then no code may be run. */
int filter_install(int program_fd, int control_fd);

#endif
