#include "socket_claim.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define LOCK_TRIES 1000 /* each 10 ms */

static claim_result failed(char *message, size_t room, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static claim_result failed(char *message, size_t room, const char *format, ...) {
    va_list args;
    va_start(args, format);
    vsnprintf(message, room, format, args);
    va_end(args);
    return CLAIM_FAILED;
}

/* Opens the directory, made if missing and checked to be ours alone. -1 with message. */
static int open_directory(const char *directory, char *message, size_t room) {
    if (mkdir(directory, 0700) < 0 && errno != EEXIST) {
        failed(message, room, "cannot make the directory %s: %s", directory, strerror(errno));
        return -1;
    }
    int fd = open(directory, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    struct stat st;
    if (fd < 0 || fstat(fd, &st) < 0)
        failed(message, room, "cannot use the directory %s: %s", directory, strerror(errno));
    else if (st.st_uid != geteuid())
        failed(message, room, "the directory %s belongs to user %lu, not to you", directory,
               (unsigned long)st.st_uid);
    else if (st.st_mode & 077)
        failed(message, room,
               "the directory %s is open to others (mode %04o); it must have mode 0700", directory,
               (unsigned)st.st_mode & 07777);
    else
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

static int lock_directory(int fd, int tries) {
    while (flock(fd, LOCK_EX | LOCK_NB) < 0) {
        if (errno != EWOULDBLOCK && errno != EINTR)
            return -1;
        if (--tries <= 0) {
            errno = EWOULDBLOCK;
            return -1;
        }
        nanosleep(&(struct timespec){.tv_nsec = 10 * 1000 * 1000}, NULL);
    }
    return 0;
}

/* For those who come back to it: opens and locks again. -1 when that is not possible. */
static int relock(const char *directory, int tries) {
    int fd = open(directory, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd >= 0 && lock_directory(fd, tries) < 0) {
        close(fd);
        return -1;
    }
    return fd;
}

static struct sockaddr_un address_of(const char *path) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    memcpy(address.sun_path, path, strlen(path));
    return address;
}

/* Whether somebody listens. A full queue (EAGAIN) means yes. */
static bool is_served(const char *path) {
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return false;
    struct sockaddr_un address = address_of(path);
    bool served = connect(fd, (struct sockaddr *)&address, sizeof address) == 0 || errno == EAGAIN;
    close(fd);
    return served;
}

static void leaving_name(const socket_claim *claim, char out[128]) {
    snprintf(out, 128, "%s.leaving", claim->path);
}

static int bind_and_listen(socket_claim *claim) {
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -1;
    struct sockaddr_un address = address_of(claim->path);
    struct stat st;
    mode_t mask = umask(0077);
    int bound = bind(fd, (struct sockaddr *)&address, sizeof address);
    int saved = errno;
    umask(mask);
    errno = saved;
    if (bound == 0 && lstat(claim->path, &st) == 0 && listen(fd, SOMAXCONN) == 0) {
        claim->device = st.st_dev;
        claim->inode = st.st_ino;
        claim->listen_fd = fd;
        return 0;
    }
    saved = errno;
    if (bound == 0)
        unlink(claim->path);
    close(fd);
    errno = saved;
    return -1;
}

/* With the lock held. */
static claim_result take_locked(socket_claim *claim, char *message, size_t room) {
    struct stat st;
    char leaving[128];
    if (lstat(claim->path, &st) == 0) {
        if (!S_ISSOCK(st.st_mode))
            return failed(message, room, "%s exists and is not a socket", claim->path);
        if (is_served(claim->path))
            return CLAIM_SERVED;
        if (unlink(claim->path) < 0)
            return failed(message, room, "cannot remove the old socket %s: %s", claim->path,
                          strerror(errno));
    }
    leaving_name(claim, leaving);
    unlink(leaving); /* of an engine that was killed while it left */
    if (bind_and_listen(claim) < 0)
        return failed(message, room, "cannot listen on %s: %s", claim->path, strerror(errno));
    return CLAIM_OURS;
}

claim_result socket_claim_take(socket_claim *claim, const char *path, char *message, size_t room) {
    *claim = (socket_claim){.listen_fd = -1};
    if (strlen(path) >= sizeof claim->path)
        return failed(message, room, "the path of the socket is too long (at most %zu bytes): %s",
                      sizeof claim->path - 1, path);
    strcpy(claim->path, path);
    strcpy(claim->directory, path);
    char *slash = strrchr(claim->directory, '/');
    if (slash == claim->directory)
        slash++;
    *slash = '\0';

    int directory_fd = open_directory(claim->directory, message, room);
    if (directory_fd < 0)
        return CLAIM_FAILED;
    claim_result result;
    if (lock_directory(directory_fd, LOCK_TRIES) < 0)
        result = failed(message, room, "cannot lock the directory %s: %s", claim->directory,
                        strerror(errno));
    else
        result = take_locked(claim, message, room);
    close(directory_fd); /* unlocks */
    return result;
}

void socket_claim_close(struct socket_claim *claim) {
    shutdown(claim->listen_fd,
             SHUT_RDWR); /* a mere close would leave the watchdog's copy listening */
    close(claim->listen_fd);
    claim->listen_fd = -1;
}

/* With the lock held. Returns true when no client can come any more: the socket is not where they
 * look for it. */
static bool step_aside(const struct socket_claim *claim, const char *leaving) {
    struct stat st;
    if (lstat(claim->path, &st) < 0 || st.st_dev != claim->device || st.st_ino != claim->inode)
        return true; /* somebody removed or replaced it */
    if (rename(claim->path, leaving) < 0)
        return false;
    /* One that looked it up just before gets a moment to show up. Whoever finds nothing and starts
     * an engine waits for the lock that we hold. */
    struct pollfd waiting = {.fd = claim->listen_fd, .events = POLLIN};
    if (poll(&waiting, 1, 20) == 0)
        return true;
    rename(leaving, claim->path);
    return false;
}

bool socket_claim_leave(struct socket_claim *claim) {
    char leaving[128];
    leaving_name(claim, leaving);
    int directory_fd = relock(claim->directory, 1);
    if (directory_fd < 0 && errno != ENOENT)
        return false;
    bool left = directory_fd < 0 || step_aside(claim, leaving);
    if (left) {
        socket_claim_close(claim);
        unlink(leaving);
    }
    if (directory_fd >= 0)
        close(directory_fd);
    return left;
}

static void unlink_if_ours(const socket_claim *claim, const char *path) {
    struct stat st;
    if (lstat(path, &st) == 0 && st.st_dev == claim->device && st.st_ino == claim->inode &&
        !is_served(path))
        unlink(path);
}

void socket_claim_withdraw(const socket_claim *claim) {
    int directory_fd = relock(claim->directory, LOCK_TRIES);
    if (directory_fd < 0)
        return;
    char leaving[128];
    leaving_name(claim, leaving);
    unlink_if_ours(claim, claim->path);
    unlink_if_ours(claim, leaving);
    close(directory_fd);
}
