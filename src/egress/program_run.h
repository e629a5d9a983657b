/*
 * program_run.h - runs one of the system's programs to its end.
 */
#ifndef STEPBOX_PROGRAM_RUN_H
#define STEPBOX_PROGRAM_RUN_H

#include <stddef.h>

/* With input_fd as standard input. 0, or -1 with what it complained of. */
int program_run(const char *path, char *const argv[], int input_fd, char *message, size_t room);

#endif
