/*
 * hostile_agent.c - an agent that is out to harm its engine. MODE says how: 1 answers rubbish, 2 an
 * answer without end, 3 nothing; 4 comes up properly, and then floods everything that leads to the
 * engine: its standard error, the control socket, with descriptors, and each connection; 5 comes up
 * properly, and then asks for runners without end.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#ifndef MODE
#define MODE 1
#endif

#define CONTROL_BYTES CMSG_SPACE(8 * sizeof(int))

/* Sends bytes of a type, with count descriptors. */
static void say(int control, const void *bytes, size_t length, const int *fds, size_t count) {
    char space[CONTROL_BYTES] = {0};
    struct iovec part = {(void *)bytes, length};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    if (count) {
        message.msg_control = space;
        message.msg_controllen = CMSG_SPACE(count * sizeof(int));
        struct cmsghdr *header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(count * sizeof(int));
        memcpy(CMSG_DATA(header), fds, count * sizeof(int));
    }
    sendmsg(control, &message, MSG_NOSIGNAL);
}

static void flood_control(int control) {
    int fds[8];
    for (int i = 0; i < 8; i++)
        fds[i] = open("/dev/null", O_RDWR);
    unsigned char words[64];
    for (unsigned round = 0;; round++) {
        for (size_t i = 0; i < sizeof words; i++)
            words[i] = (unsigned char)(rand() >> 7);
        if (round % 3 == 0)
            words[0] = 'L'; /* what an agent says of its filter */
        if (round % 3 == 1)
            words[0] = 'C';
        say(control, words, round % 2 ? 4 : round % sizeof words, fds, round % 9);
    }
}

static void flood_requests(int control) {
    for (unsigned number = 0;; number++) {
        unsigned char request[4] = {'R', 0, (unsigned char)number, (unsigned char)(number >> 8)};
        say(control, request, sizeof request, NULL, 0);
    }
}

static void flood_errors(void) {
    static char lines[65536];
    for (size_t i = 0; i < sizeof lines; i++)
        lines[i] = i % 7 == 6 ? '\n' : (char)(rand() >> 7);
    for (;;)
        if (write(2, lines, sizeof lines) < 0)
            _exit(0);
}

static void flood_connection(int fd) {
    static char bytes[65536];
    memset(bytes, 'x', sizeof bytes);
    while (send(fd, bytes, sizeof bytes, MSG_NOSIGNAL) > 0)
        continue;
    _exit(0);
}

/* A child for each, so that none waits for another. */
static void serve(int fd, int from_engine) {
    static const char fine[] = "HTTP/1.1 204 No Content\r\n\r\n", head[] = "HTTP/1.1 ";
    char request[4096];
    if (MODE == 3 || fork() > 0)
        return;
    if (recv(fd, request, sizeof request, 0) < 0)
        _exit(0);
    if (MODE >= 4 && from_engine) {
        send(fd, fine, sizeof fine - 1, MSG_NOSIGNAL);
        _exit(0);
    }
    if (MODE == 1) {
        for (size_t i = 0; i < sizeof request; i++)
            request[i] = (char)(rand() >> 7);
        send(fd, request, sizeof request, MSG_NOSIGNAL);
        _exit(0);
    }
    send(fd, head, sizeof head - 1, MSG_NOSIGNAL);
    flood_connection(fd);
}

int main(int argc, char **argv) {
    int control = -1;
    for (int i = 1; i + 1 < argc; i++)
        if (strcmp(argv[i], "--control") == 0)
            control = atoi(argv[i + 1]);
    signal(SIGCHLD, SIG_IGN);
    signal(SIGPIPE, SIG_IGN);
    if (MODE == 4 && fork() == 0)
        flood_control(control);
    if (MODE == 4 && fork() == 0)
        flood_errors();
    if (MODE == 5 && fork() == 0)
        flood_requests(control);
    for (;;) {
        char word[64], space[CONTROL_BYTES];
        struct iovec part = {word, sizeof word};
        struct msghdr message = {.msg_iov = &part,
                                 .msg_iovlen = 1,
                                 .msg_control = space,
                                 .msg_controllen = sizeof space};
        if (recvmsg(control, &message, 0) <= 0)
            return 0;
        struct cmsghdr *header = CMSG_FIRSTHDR(&message);
        if (!header || header->cmsg_type != SCM_RIGHTS)
            continue;
        int fd;
        memcpy(&fd, CMSG_DATA(header), sizeof fd);
        serve(fd, word[1] & 1);
        if (MODE != 3)
            close(fd);
    }
}
