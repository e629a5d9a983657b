/* descendants.c - see descendants.h */
#include "descendants.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

/* Writes /proc/PID/FILE; snprintf(3) may not be called in a signal handler. */
static void proc_path(char *to, pid_t pid, const char *file, bool of_thread) {
    char digits[16];
    size_t count = 0;
    unsigned long left = (unsigned long)pid;
    do
        digits[count++] = (char)('0' + left % 10);
    while (left /= 10);
    to = stpcpy(to, "/proc/");
    for (int part = 0; part < (of_thread ? 2 : 1); part++) {
        if (part)
            to = stpcpy(to, "/task/");
        for (size_t i = count; i-- > 0;)
            *to++ = digits[i];
    }
    *to++ = '/';
    strcpy(to, file);
}

static size_t read_proc(pid_t pid, const char *file, bool of_thread, char *text, size_t room) {
    char path[80];
    proc_path(path, pid, file, of_thread);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    size_t length = 0;
    ssize_t got;
    while (length < room - 1) {
        got = read(fd, text + length, room - 1 - length);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        length += (size_t)got;
    }
    close(fd);
    text[length] = '\0';
    return length;
}

void descendants_add(struct descendants *set, pid_t pid) {
    if (set->count < DESCENDANTS_MAX)
        set->pids[set->count++] = pid;
}

static void add_children(pid_t pid, const struct descendants *skipped, struct descendants *found) {
    char text[8192];
    size_t length = read_proc(pid, "children", true, text, sizeof text);
    pid_t number = 0;
    for (size_t i = 0; i < length; i++) {
        if (text[i] >= '0' && text[i] <= '9') {
            number = number * 10 + (text[i] - '0');
        } else {
            if (number && !(skipped && descendants_have(skipped, number)))
                descendants_add(found, number);
            number = 0;
        }
    }
}

void descendants_of(pid_t pid, const struct descendants *skipped, struct descendants *found) {
    found->count = 0;
    add_children(pid, skipped, found);
    for (size_t i = 0; i < found->count; i++)
        add_children(found->pids[i], skipped, found);
}

bool descendants_have(const struct descendants *set, pid_t pid) {
    for (size_t i = 0; i < set->count; i++) {
        if (set->pids[i] == pid)
            return true;
    }
    return false;
}

/* The set of signals that a line of /proc/PID/status has; bit N-1 is signal N. */
static uint64_t signal_set(const char *status, const char *field) {
    const char *at = strstr(status, field);
    uint64_t set = 0;
    if (!at)
        return 0;
    for (at += strlen(field); *at == ':' || *at == '\t' || *at == ' ';)
        at++;
    for (;; at++) {
        if (*at >= '0' && *at <= '9')
            set = set << 4 | (uint64_t)(*at - '0');
        else if (*at >= 'a' && *at <= 'f')
            set = set << 4 | (uint64_t)(*at - 'a' + 10);
        else
            return set;
    }
}

static uint64_t signals_of(pid_t pid, const char *field) {
    char status[4096];
    return read_proc(pid, "status", false, status, sizeof status) ? signal_set(status, field) : 0;
}

static uint64_t bit(int number) {
    return (uint64_t)1 << (number - 1);
}

bool process_catches(pid_t pid, int number) {
    return (signals_of(pid, "\nSigCgt") & bit(number)) != 0;
}

/* A signal ends a process that has nothing else to do with it. One that is alive got it between
 * fork and exec, with a handler of its parent's that exec took away. */
static bool has_lost(pid_t pid, int number) {
    char status[4096];
    return read_proc(pid, "status", false, status, sizeof status) &&
           !((signal_set(status, "\nSigCgt") | signal_set(status, "\nSigIgn")) & bit(number));
}

void descendants_tell(const struct descendants *descendants, pid_t of, int number,
                      struct descendants *told) {
    pid_t session = getsid(of);
    for (size_t i = 0; i < descendants->count; i++) {
        pid_t each = descendants->pids[i];
        bool was_told = descendants_have(told, each);
        if (getsid(each) != session || (was_told && !has_lost(each, number)))
            continue;
        kill(each, number);
        if (!was_told)
            descendants_add(told, each);
    }
}

void descendants_signal(pid_t of, int number, const struct descendants *skipped,
                        struct descendants *told) {
    struct descendants now;
    descendants_of(of, skipped, &now);
    descendants_tell(&now, of, number, told);
}
