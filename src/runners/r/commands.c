/*
 * commands.c - runs what the code gives to system().
 *
 * The C library's system(3), which R uses, ignores an interrupt meanwhile.
 */
#include "calls.h"
#include "channel.h"

#include <errno.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

SEXP stepbox_commands_hand_over(void) {
    channel_hand_over();
    R_CheckUserInterrupt(); /* one that came meanwhile would not be seen in what comes now */
    return R_NilValue;
}

SEXP stepbox_commands_run(SEXP command) {
    char *text = (char *)Rf_translateCharUTF8(STRING_ELT(command, 0));
    char *argv[] = {(char *)"sh", (char *)"-c", text, NULL};
    pid_t child;
    int status = 127;
    stepbox_commands_hand_over();
    if (posix_spawn(&child, "/bin/sh", NULL, NULL, argv, environ) != 0)
        return Rf_ScalarInteger(status);
    while (waitpid(child, &status, 0) < 0) {
        if (errno != EINTR) {
            status = 127 << 8; /* the code waits for all its children itself */
            break;
        }
    }
    R_CheckUserInterrupt(); /* the program had it, too */
    return Rf_ScalarInteger(WIFEXITED(status) ? WEXITSTATUS(status) : status);
}
