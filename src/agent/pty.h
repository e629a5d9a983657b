/*
 * pty.h - pseudo terminals.
 */
#ifndef STEPBOX_PTY_H
#define STEPBOX_PTY_H

#define PTY_COLS_DEFAULT 80
#define PTY_ROWS_DEFAULT 24
#define PTY_SIZE_MAX 65535

/* Opens both sides, which the caller closes: the master, non-blocking, for us, the terminal for a
 * program. 0, or -1 with errno. */
int pty_open(int *master, int *terminal, unsigned cols, unsigned rows);
/* Tells the programs in the foreground by SIGWINCH. 0, or -1 with errno. */
int pty_resize(int master, unsigned cols, unsigned rows);

#endif
