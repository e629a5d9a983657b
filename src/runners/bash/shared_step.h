/*
 * shared_step.h - the memory in which supervisor and shell hand each other a step.
 *
 * It is memory and not a descriptor so that there is nothing which the code in the shell, or a
 * process that it starts, could find, read or write: the mapping is gone after exec, and after fork
 * too.
 */
#ifndef STEPBOX_BASH_SHARED_STEP_H
#define STEPBOX_BASH_SHARED_STEP_H

#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum shared_turn { TURN_SUPERVISOR, TURN_SHELL };

typedef enum shared_outcome {
    OUTCOME_STATUS, /* the code has ended; `status` says how */
    OUTCOME_INTERRUPTED,
    OUTCOME_ERROR, /* the code was not run: `text` has a name, a value and a traceback */
} shared_outcome;

/* Bytes of the texts of an error, in all. */
#define SHARED_TEXT_MAX 65536
/* Bytes of code and variables: what a line of the agent's can hold, decoded, and its lengths. */
#define SHARED_DATA_MAX ((size_t)80 * 1024 * 1024)

#define SHARED_BACKGROUND_MAX 512

struct shared_step {
    uint32_t turn; /* a futex */
    /* From the supervisor. */
    uint32_t interrupts; /* how often this step was to be interrupted */
    uint32_t variables;
    uint64_t code_length;
    /* From the shell, when it is interrupted: its jobs in the background, which are spared. */
    uint32_t has_looked;
    uint32_t background;
    pid_t background_pids[SHARED_BACKGROUND_MAX];
    /* From the shell, at the end of a step. */
    uint32_t outcome;
    int32_t status;
    char name[32];
    char value[1024];
    uint32_t text_length;
    char text[SHARED_TEXT_MAX];
    /* Names and values one after the other, then the code; each ended by NUL. */
    char data[SHARED_DATA_MAX];
};

/* Has the shell look whether it is interrupted, and what is in its background. Bash has no use for
 * it, and scripts have none. */
#define SHARED_LOOK SIGRTMAX
/* Tells the supervisor that it is its turn, or that the shell has looked. */
#define SHARED_DONE SIGUSR1

#endif
