/* shell_interrupts.c - see shell_interrupts.h */
#include "builtin.h"
#include "shell_interrupts.h"

#include "bash_symbols.h"

#include <errno.h>
#include <unistd.h>

static struct shared_step *step;
static pid_t shell, supervisor; /* in a process that the shell has forked there is no such memory */
static volatile sig_atomic_t in_code;
static volatile uint32_t interrupted;   /* how often, in this step */
static volatile sig_atomic_t signalled; /* SIGINT came, from the code or from bash itself */

/* In a signal handler, while bash waits or runs code: the table may be in the middle of a change.
 */
void shell_interrupts_list_background(void) {
    uint32_t count = 0;
    for (int i = 0; jobs && i < js.slots; i++) {
        const struct bash_job *job = jobs[i];
        const struct bash_process *process = job ? job->processes : NULL;
        if (!process || job->flags & JOB_FOREGROUND)
            continue;
        do {
            step->background_pids[count++] = process->pid;
            process = process->next;
        } while (process && process != job->processes && count < SHARED_BACKGROUND_MAX);
        if (count == SHARED_BACKGROUND_MAX)
            break;
    }
    step->background = count;
    __atomic_store_n(&step->has_looked, 1, __ATOMIC_SEQ_CST);
}

static void on_look(int number) {
    int error = errno;
    (void)number;
    if (in_code && getpid() == shell) {
        uint32_t wanted = __atomic_load_n(&step->interrupts, __ATOMIC_SEQ_CST);
        shell_interrupts_list_background();
        if (wanted != interrupted) {
            interrupted = wanted;
            interrupt_state = 1;
            wait_signal_received = SIGINT;
        }
        kill(supervisor, SHARED_DONE);
    }
    errno = error;
}

/* Bash sends itself SIGINT when a substituted command died of it, and would die. Processes that it
 * has forked do. */
static void on_sigint(int number) {
    if (getpid() != shell) {
        signal(number, SIG_DFL);
        raise(number);
    } else if (in_code) {
        signalled = 1;
        interrupt_state = 1;
    }
}

/* A trap of the code stays in place. */
static void survive_sigint(void) {
    struct sigaction action;
    initialize_terminating_signals();
    if (sigaction(SIGINT, NULL, &action) ||
        (action.sa_handler != SIG_DFL && action.sa_handler != termsig_sighandler))
        return;
    action = (struct sigaction){.sa_handler = on_sigint};
    sigaction(SIGINT, &action, NULL);
}

void shell_interrupts_reset(struct shared_step *shared, pid_t told) {
    struct sigaction action = {.sa_handler = on_look};
    sigset_t only;
    step = shared;
    shell = getpid();
    supervisor = told;
    interrupted = 0;
    signalled = 0;
    interrupt_state = 0;
    survive_sigint();
    wait_signal_received = 0;
    sigaction(SHARED_LOOK, &action, NULL); /* without SA_RESTART: what waits is to end */
    sigemptyset(&only);
    sigaddset(&only, SHARED_LOOK);
    sigprocmask(SIG_UNBLOCK, &only, NULL);
}

void shell_interrupts_arm(bool armed) {
    in_code = armed;
}

bool shell_is_interrupted(void) {
    return interrupted || signalled;
}
