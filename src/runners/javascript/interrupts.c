/*
 * interrupts.c - SIGINT ends the code of a step, wherever it is, and nothing else.
 *
 * Node can end code that runs for ever only inside of a vm.Script, which ends before the first
 * `await` goes on, and then leaves SIGINT as the death of the process. So a thread of our own waits
 * for the signal. What it does depends on where the main thread is:
 *   - in code that run() called: that code is ended, and run() tells;
 *   - anywhere else in a step (the loop waits, or runs the code's callbacks): the loop is asked to
 *     call us back. When it does not come to that, a callback is hogging it, and is ended;
 *   - between steps: nothing.
 *
 * Ending code is V8's Isolate::TerminateExecution, which Node-API lacks. It is exported under a
 * name that has been the same for all versions of Node, and looked up when this is loaded.
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "descendants.h"
#include "host.h"

/* How long the loop may take to call us back before its callback is ended: milliseconds. */
#define PATIENCE 30
/* Milliseconds between two looks for processes that the interrupt has not reached yet: the code was
 * about to start them, and waits for them now. */
#define LOOK_AGAIN 20
/* Looks after which those that do not heed it are killed: two seconds. */
#define LOOKS_BEFORE_KILL 100

static void *isolate;
static void (*terminate_execution)(void *isolate);
static void (*cancel_termination)(void *isolate);
static napi_threadsafe_function tell_loop;

/* What the signal handler touches. The thread may come to run late, when another step has begun:
 * each step has a number, and 0 is none. */
static sem_t signalled;
static atomic_uint current_step;
static atomic_uint signalled_step;

/* Below: guarded by the lock. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t loop_answered = PTHREAD_COND_INITIALIZER;
static unsigned step;
static unsigned asked; /* the step for which the loop was asked to call back */
static bool answered;
static int running; /* how many run() are on the stack */
static bool ended;  /* code was told to end */

static struct descendants before; /* the processes there were when the step began */
static struct descendants told;   /* those that the latest interrupt has reached */

static void on_signal(int number) {
    int saved = errno;
    unsigned now = atomic_load(&current_step);
    (void)number;
    if (now) {
        atomic_store(&signalled_step, now);
        sem_post(&signalled);
    }
    errno = saved;
}

/* Most often there is no child, which one system call tells. */
static bool has_children(void) {
    siginfo_t info;
    return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 || errno != ECHILD;
}

static void end_code(void) {
    ended = true;
    terminate_execution(isolate);
}

static struct timespec in_milliseconds(long count) {
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += count * 1000000L;
    until.tv_sec += until.tv_nsec / 1000000000L;
    until.tv_nsec %= 1000000000L;
    return until;
}

static void ask_loop(void) {
    struct timespec until = in_milliseconds(PATIENCE);
    answered = false;
    asked = step;
    napi_call_threadsafe_function(tell_loop, NULL, NAPI_NONBLOCKING);
    int waited = 0;
    while (step && !answered && waited == 0)
        waited = pthread_cond_timedwait(&loop_answered, &lock, &until);
    if (step && !answered)
        end_code();
}

/* Waits for a signal; while a step that had one has not ended, no longer than to the next look. */
static bool wait_for_signal(bool looks) {
    struct timespec until = in_milliseconds(LOOK_AGAIN);
    while (looks ? sem_timedwait(&signalled, &until) : sem_wait(&signalled)) {
        if (errno == ETIMEDOUT)
            return false;
    }
    return true;
}

/* As a terminal's Ctrl-C does. */
static void tell_processes(int looks) {
    struct descendants nobody = {0};
    if (looks < LOOKS_BEFORE_KILL)
        descendants_signal(getpid(), SIGINT, &before, &told);
    else if (looks == LOOKS_BEFORE_KILL)
        descendants_signal(getpid(), SIGKILL, &before, &nobody);
}

static void interrupt(void) {
    told.count = 0; /* those are told again that the code goes on waiting for */
    tell_processes(0);
    if (running)
        end_code();
    else
        ask_loop();
}

static void *watch(void *unused) {
    unsigned interrupted = 0; /* the step that has not ended yet */
    int looks = 0;
    (void)unused;
    for (;;) {
        bool signal = wait_for_signal(interrupted != 0);
        pthread_mutex_lock(&lock);
        if (signal) {
            interrupted = atomic_load(&signalled_step);
            looks = 0;
        }
        if (!step || step != interrupted)
            interrupted = 0;
        else if (signal)
            interrupt();
        else
            tell_processes(++looks);
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

/* V8 keeps a request to end that found no code: it would end what runs next. Under the lock. */
static bool take_back(void) {
    bool was = ended;
    if (was)
        cancel_termination(isolate);
    ended = false;
    return was;
}

/* On the main thread, from its loop. */
static void on_loop(napi_env env, napi_value function, void *context, void *data) {
    (void)context, (void)data;
    pthread_mutex_lock(&lock);
    answered = true;
    take_back();
    bool wanted = step && step == asked;
    pthread_cond_signal(&loop_answered);
    pthread_mutex_unlock(&lock);
    napi_value undefined;
    if (wanted && env && napi_get_undefined(env, &undefined) == 0)
        napi_call_function(env, undefined, function, 0, NULL, NULL);
}

/* begin(): a step begins. */
static napi_value begin(napi_env env, napi_callback_info info) {
    (void)env, (void)info;
    pthread_mutex_lock(&lock);
    before.count = 0;
    if (has_children())
        descendants_of(getpid(), NULL, &before);
    static unsigned last;
    step = ++last ? last : ++last;
    atomic_store(&current_step, step);
    pthread_mutex_unlock(&lock);
    return NULL;
}

/* end(): it has ended; from here on nothing is interrupted. */
static napi_value end(napi_env env, napi_callback_info info) {
    (void)env, (void)info;
    pthread_mutex_lock(&lock);
    step = 0;
    atomic_store(&current_step, 0);
    take_back();
    pthread_cond_signal(&loop_answered);
    pthread_mutex_unlock(&lock);
    return NULL;
}

/* run(function, mark): what the function returns or throws, or `mark` when it was interrupted. */
static napi_value run(napi_env env, napi_callback_info info) {
    size_t count = 2;
    napi_value arguments[2], undefined, result = NULL;
    napi_get_cb_info(env, info, &count, arguments, NULL, NULL);
    napi_get_undefined(env, &undefined);
    pthread_mutex_lock(&lock);
    running++;
    pthread_mutex_unlock(&lock);
    napi_call_function(env, undefined, arguments[0], 0, NULL, &result);
    pthread_mutex_lock(&lock);
    running--;
    bool was = take_back();
    pthread_mutex_unlock(&lock);
    if (!was)
        return result; /* or what was thrown is thrown on */
    bool pending = false;
    napi_is_exception_pending(env, &pending);
    if (pending)
        napi_get_and_clear_last_exception(env, &result);
    return arguments[1];
}

/* Before it there is SIGINT's default, the end of the process. */
static bool start_watching(void) {
    sigset_t all, old;
    pthread_t thread;
    pthread_attr_t attributes;
    sem_init(&signalled, 0, 0);
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attributes, 256 * 1024);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    bool started = pthread_create(&thread, &attributes, watch, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    pthread_attr_destroy(&attributes);
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    return started && sigaction(SIGINT, &action, NULL) == 0;
}

/* watch(function): SIGINT is ours now; `function` is called in the loop when one finds it idle. */
static napi_value watch_signal(napi_env env, napi_callback_info info) {
    size_t count = 1;
    napi_value function, name;
    void *(*current)(void) = (void *(*)(void))dlsym(RTLD_DEFAULT, "_ZN2v87Isolate10GetCurrentEv");
    terminate_execution =
        (void (*)(void *))dlsym(RTLD_DEFAULT, "_ZN2v87Isolate18TerminateExecutionEv");
    cancel_termination =
        (void (*)(void *))dlsym(RTLD_DEFAULT, "_ZN2v87Isolate24CancelTerminateExecutionEv");
    napi_get_cb_info(env, info, &count, &function, NULL, NULL);
    napi_create_string_utf8(env, "stepbox", NAPI_AUTO_LENGTH, &name);
    if (!current || !terminate_execution || !cancel_termination || !(isolate = current()) ||
        napi_create_threadsafe_function(env, function, NULL, name, 0, 1, NULL, NULL, NULL, on_loop,
                                        &tell_loop) ||
        napi_unref_threadsafe_function(env, tell_loop) || !start_watching())
        napi_throw_error(env, NULL, "interrupts cannot be watched for");
    return NULL;
}

void interrupts_export(napi_env env, napi_value exports) {
    host_export(env, exports, "watch", watch_signal);
    host_export(env, exports, "begin", begin);
    host_export(env, exports, "end", end);
    host_export(env, exports, "run", run);
}
