/*
 * native.c - what the Java runner needs and Java has no means for.
 *
 * JNI and JVMTI are tables of functions whose places their specifications fix. They are used by
 * those places, so that building needs no JDK; what is called here is the same since Java 5.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

typedef const void *const *table;

/* Of the table of a JNIEnv. */
enum { GET_BYTE_ARRAY_REGION = 200, SET_BYTE_ARRAY_REGION = 208, GET_JAVA_VM = 219 };
enum { GET_ENV = 6 };                             /* of a JavaVM */
enum { STOP_THREAD = 6, ADD_CAPABILITIES = 141 }; /* of a jvmtiEnv */

#define JVMTI_VERSION 0x30010200
#define CAN_SIGNAL_THREAD (1u << 10)

/* Above what a program that closes "all" descriptors from 3 up usually hits. */
#define HIGHEST_WANTED 1000
/* Bytes written in one call; they are on the stack, of which Java keeps more than this for us. */
#define PIECE 16384

/* Ends a system call that blocks; Java uses none of the signals around it. */
#define WAKING_SIGNAL (SIGRTMAX - 5)

#define NATIVE(type, name, ...)                                                                    \
    type Java_stepbox_runner_Native_##name(const table *env, void *class, ##__VA_ARGS__);          \
    type Java_stepbox_runner_Native_##name(const table *env, void *class, ##__VA_ARGS__)

static void get_bytes(const table *env, void *array, int32_t from, int32_t count, char *to) {
    void (*get)(const table *, void *, int32_t, int32_t, void *) = (*env)[GET_BYTE_ARRAY_REGION];
    get(env, array, from, count, to);
}

static int interrupts[2] = {-1, -1}; /* a pipe with a byte for each SIGINT */

static void nothing(int number) {
    (void)number;
}

static void on_interrupt(int number) {
    (void)number;
    int error = errno;
    if (write(interrupts[1], "", 1) < 0)
        errno = error; /* full: there is one already */
}

/* A copy that children do not get, on a number that code does not hit by chance; -1 for none. */
static int copy_high(int descriptor) {
    struct rlimit files;
    int wanted = HIGHEST_WANTED;
    if (getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur < HIGHEST_WANTED + 24)
        wanted = files.rlim_cur > 27 ? (int)files.rlim_cur - 24 : 3;
    return fcntl(descriptor, F_DUPFD_CLOEXEC, wanted);
}

NATIVE(int32_t, copyHigh, int32_t descriptor) {
    (void)env, (void)class;
    return copy_high(descriptor);
}

/* SIGINT is ours again, whatever the code has made of it. */
NATIVE(void, takeInterrupts) {
    (void)env, (void)class;
    struct sigaction action = {.sa_handler = on_interrupt, .sa_flags = SA_RESTART};
    sigaction(SIGINT, &action, NULL);
}

/* What every runner needs once. Returns a descriptor that a byte comes from for each SIGINT. */
NATIVE(int32_t, prepare) {
    (void)env, (void)class;
    struct sigaction action = {.sa_handler = nothing}; /* no SA_RESTART: calls are to end */
    sigaction(WAKING_SIGNAL, &action, NULL);
    /* Memory and descriptors are not for other processes of the sandbox, which run as this user. */
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
    int ends[2];
    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK))
        return -1;
    fcntl(ends[0], F_SETFL, 0);
    for (int i = 0; i < 2; i++) {
        interrupts[i] = copy_high(ends[i]);
        close(ends[i]);
    }
    Java_stepbox_runner_Native_takeInterrupts(env, class);
    return interrupts[0];
}

NATIVE(void, replace, int32_t descriptor, int32_t by) {
    (void)env, (void)class;
    dup2(by, descriptor);
}

NATIVE(void, close, int32_t descriptor) {
    (void)env, (void)class;
    close(descriptor);
}

/* Bytes read; 0 when a signal came, -1 at the end. */
NATIVE(int32_t, read, int32_t descriptor, void *array, int32_t length) {
    (void)class;
    char bytes[PIECE];
    void (*set)(const table *, void *, int32_t, int32_t, const void *) =
        (*env)[SET_BYTE_ARRAY_REGION];
    ssize_t got = read(descriptor, bytes, length < PIECE ? (size_t)length : PIECE);
    if (got < 0 && errno == EINTR)
        return 0;
    if (got <= 0)
        return -1;
    set(env, array, 0, (int32_t)got, bytes);
    return (int32_t)got;
}

/* Bytes written, perhaps fewer than asked; 0 when a signal came, -1 when nobody reads. */
NATIVE(int32_t, write, int32_t descriptor, void *array, int32_t offset, int32_t length) {
    (void)class;
    char bytes[PIECE];
    if (length > PIECE)
        length = PIECE;
    get_bytes(env, array, offset, length, bytes);
    ssize_t written = write(descriptor, bytes, (size_t)length);
    if (written < 0 && errno == EAGAIN) {
        /* A child process may have made the shared pipe non-blocking (node does). */
        struct pollfd writable = {.fd = descriptor, .events = POLLOUT};
        poll(&writable, 1, -1);
        return 0;
    }
    if (written < 0)
        return errno == EINTR ? 0 : -1;
    return (int32_t)written;
}

/* "NAME\0VALUE\0", or "NAME\0" to remove it. Children started without a map of their own get the
 * process's environment, of which Java's is a copy made at the start. */
NATIVE(void, setEnvironment, void *array, int32_t length) {
    (void)class;
    char *name = malloc((size_t)length);
    if (!name)
        return;
    get_bytes(env, array, 0, length, name);
    size_t name_length = strlen(name) + 1;
    if (name_length < (size_t)length)
        setenv(name, name + name_length, 1);
    else
        unsetenv(name);
    free(name);
}

NATIVE(int64_t, currentThread) {
    (void)env, (void)class;
    return (int64_t)pthread_self();
}

/* Ends the system call that the thread, which must be alive, may be blocked in. */
NATIVE(void, wake, int64_t thread) {
    (void)env, (void)class;
    pthread_kill((pthread_t)thread, WAKING_SIGNAL);
}

/* Processes that have left for a session of their own are servers: they are left alone. */
NATIVE(void, interrupt, int64_t process) {
    (void)env, (void)class;
    if (getsid((pid_t)process) == getsid(0))
        kill((pid_t)process, SIGINT);
}

/* The tool interface of this virtual machine, allowed to stop threads; NULL when it has none. */
static const table *jvmti_of(const table *env) {
    static const table *jvmti;
    const table *vm;
    int32_t (*get_vm)(const table *, const table **) = (*env)[GET_JAVA_VM];
    if (jvmti)
        return jvmti;
    if (get_vm(env, &vm))
        return NULL;
    const table *found;
    int32_t (*get_env)(const table *, const table **, int32_t) = (*vm)[GET_ENV];
    if (get_env(vm, &found, JVMTI_VERSION))
        return NULL;
    const uint32_t capabilities[4] = {CAN_SIGNAL_THREAD};
    int32_t (*add)(const table *, const void *) = (*found)[ADD_CAPABILITIES];
    if (add(found, capabilities))
        return NULL;
    return jvmti = found;
}

/* Raises the exception in a thread, wherever it is. Java's own Thread.stop() did this until 19. */
NATIVE(uint8_t, stop, void *thread, void *exception) {
    (void)class;
    const table *jvmti = jvmti_of(env);
    if (!jvmti)
        return 0;
    int32_t (*stop)(const table *, void *, void *) = (*jvmti)[STOP_THREAD];
    return stop(jvmti, thread, exception) == 0;
}
