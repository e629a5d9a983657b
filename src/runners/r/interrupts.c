/*
 * interrupts.c - see interrupts.h
 *
 * A thread looks again after the programs of a step that was interrupted. It is no timer: while the
 * main thread has one signal to handle, the kernel gives the next to any other thread there is, and
 * from there R's own handler of Sys.sleep() would jump to the main thread's stack.
 */
#include "channel.h"
#include "descendants.h"
#include "interrupts.h"
#include "r_api.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

/* Milliseconds between two looks for programs that the interrupt has not reached yet: R was about
 * to start them, and waits for them now. */
#define LOOK_AGAIN 20
/* Looks after which those that do not heed it are killed: two seconds. */
#define LOOKS_BEFORE_KILL 100

enum interruptible { IDLE, IN_STEP, IN_CODE };

static volatile sig_atomic_t interruptible, interrupted;
static struct descendants told; /* processes that were interrupted in the step */
static sem_t looking;           /* an interrupt came */

/* The thread holds it while it looks, and so code does not end meanwhile. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct descendants earlier; /* processes that were there before the step */

/* As a terminal does, it interrupts the programs that the code has started, too. R's own handler
 * does no more for R, but would put itself into place again. */
static void on_interrupt(int number) {
    int saved = errno;
    if (!channel_is_ours()) {
        R_interrupts_pending = 1;
    } else if (interruptible == IN_CODE) {
        descendants_signal(getpid(), number, &earlier, &told);
        R_interrupts_pending = 1;
        sem_post(&looking);
    } else if (interruptible == IN_STEP) {
        interrupted = 1;
    }
    errno = saved;
}

/* False when R has had the interrupt: code that goes on may start what it likes. */
static bool look(int looks, struct descendants *reached) {
    struct descendants nobody = {0};
    pthread_mutex_lock(&lock);
    bool waits = interruptible == IN_CODE && R_interrupts_pending;
    if (waits && looks < LOOKS_BEFORE_KILL)
        descendants_signal(getpid(), SIGINT, &earlier, reached);
    else if (waits)
        descendants_signal(getpid(), SIGKILL, &earlier, &nobody);
    pthread_mutex_unlock(&lock);
    return waits && looks < LOOKS_BEFORE_KILL;
}

static void *watch(void *unused) {
    (void)unused;
    for (;;) {
        while (sem_wait(&looking)) {
        }
        struct descendants reached = told;
        int looks = 0;
        do
            nanosleep(&(struct timespec){.tv_nsec = LOOK_AGAIN * 1000000L}, NULL);
        while (look(++looks, &reached));
    }
    return NULL;
}

void interrupts_take(void) {
    struct sigaction action = {.sa_handler = on_interrupt, .sa_flags = SA_RESTART};
    sigaction(SIGINT, &action, NULL);
}

int interrupts_open(void) {
    sigset_t all, old;
    pthread_t thread;
    sem_init(&looking, 0, 0);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    int error = pthread_create(&thread, NULL, watch, NULL);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (error == 0)
        interrupts_take();
    return error;
}

void interrupts_rest(void) {
    interruptible = IDLE;
    interrupted = 0;
}

void interrupts_begin_step(void) {
    pthread_mutex_lock(&lock);
    descendants_of(getpid(), NULL, &earlier);
    told.count = 0;
    interruptible = IN_STEP;
    pthread_mutex_unlock(&lock);
}

void interrupts_enter_code(void) {
    interruptible = IN_CODE;
    if (interrupted) {
        interrupted = 0;
        R_interrupts_pending = 1;
        sem_post(&looking);
    }
}

void interrupts_leave_code(void) {
    if (!channel_is_ours())
        return; /* the thread that may have the lock is the parent's */
    pthread_mutex_lock(&lock);
    interruptible = IN_STEP;
    pthread_mutex_unlock(&lock);
}
