#include "multi.h"

#include <fcntl.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <unistd.h>

/* A stream socket of this machine's that programs started later would inherit. */
static bool is_inherited_pair(int fd) {
    int domain = 0, type = 0, flags = fcntl(fd, F_GETFD);
    socklen_t size = sizeof domain, type_size = sizeof type;
    return flags >= 0 && !(flags & FD_CLOEXEC) &&
           getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &size) == 0 && domain == AF_UNIX &&
           getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &type_size) == 0 && type == SOCK_STREAM;
}

CURLM *sbi_multi_new(void) {
    int next[2] = {-1, -1};
    /* The kernel gives the lowest numbers that are free: those that the pair is about to get. */
    if (pipe2(next, O_CLOEXEC) == 0) {
        close(next[0]);
        close(next[1]);
    }
    CURLM *multi = curl_multi_init();
    for (int i = 0; multi != NULL && i < 2; i++) {
        if (next[i] >= 0 && is_inherited_pair(next[i])) {
            fcntl(next[i], F_SETFD, FD_CLOEXEC);
        }
    }
    return multi;
}
