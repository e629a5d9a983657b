/* pty.c - see pty.h */
#include "pty.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

int pty_resize(int master, unsigned cols, unsigned rows) {
    struct winsize size = {.ws_col = (unsigned short)cols, .ws_row = (unsigned short)rows};
    return ioctl(master, TIOCSWINSZ, &size);
}

/* The kernel's own settings are those of a terminal for people; what is missing is that erasing
 * takes a whole character of UTF-8. */
static int set_up(int master, int terminal, unsigned cols, unsigned rows) {
    struct termios settings;
    int flags = fcntl(master, F_GETFL);
    if (flags < 0 || fcntl(master, F_SETFL, flags | O_NONBLOCK) || tcgetattr(terminal, &settings))
        return -1;
    settings.c_iflag |= IUTF8;
    return tcsetattr(terminal, TCSANOW, &settings) ? -1 : pty_resize(master, cols, rows);
}

int pty_open(int *master, int *terminal, unsigned cols, unsigned rows) {
    int unlock = 0, saved;
    *terminal = -1;
    *master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (*master < 0)
        return -1;
    /* By the master instead of by name: what is mounted on /dev/pts does not matter. */
    if (ioctl(*master, TIOCSPTLCK, &unlock) == 0)
        *terminal = ioctl(*master, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (*terminal >= 0 && set_up(*master, *terminal, cols, rows) == 0)
        return 0;
    saved = errno;
    if (*terminal >= 0)
        close(*terminal);
    close(*master);
    *master = *terminal = -1;
    errno = saved;
    return -1;
}
