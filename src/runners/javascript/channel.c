/*
 * channel.c - the descriptors that the runner has with the agent.
 *
 * Each function does its work in one call from JavaScript. An interrupt ends code between two of
 * its own instructions and so never in the middle of a line. And Node has no dup(2) and no poll(2).
 */
#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "host.h"
#include "wire.h"

/* Above what a program that closes "all" descriptors from 3 up to some round number usually hits.
 */
#define HIGHEST_WANTED 1000
#define LINE_MAX_BYTES 4096

static int channel = -1;

static void wait_for(int descriptor, short events) {
    struct pollfd one = {.fd = descriptor, .events = events};
    poll(&one, 1, -1);
}

/* All of it, or false: the reader is gone. */
static bool write_all(int descriptor, const char *bytes, size_t length) {
    while (length) {
        ssize_t written = write(descriptor, bytes, length);
        if (written >= 0) {
            bytes += written;
            length -= (size_t)written;
        } else if (errno == EAGAIN) {
            /* The channel always is non-blocking; a pipe is when a child process has made it so. */
            wait_for(descriptor, POLLOUT);
        } else if (errno != EINTR) {
            return false;
        }
    }
    return true;
}

static napi_value boolean(napi_env env, bool value) {
    napi_value result = NULL;
    napi_get_boolean(env, value, &result);
    return result;
}

/* open(descriptor): takes it as the channel; its new number, or -1.
 *
 * The runner's memory and descriptors are not for other processes of the sandbox, which run as the
 * same user: code of one context could speak to the agent in the name of another's. */
static napi_value open_channel(napi_env env, napi_callback_info info) {
    size_t count = 1;
    napi_value argument, result = NULL;
    int32_t given = -1;
    napi_get_cb_info(env, info, &count, &argument, NULL, NULL);
    if (count == 1)
        napi_get_value_int32(env, argument, &given);
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
    struct wire wire;
    channel = wire_open(&wire, given) == 0 ? wire.fd : -1;
    napi_create_int32(env, channel, &result);
    return result;
}

/* write(descriptor, buffer): whether it was written, all of it. */
static napi_value write_buffer(napi_env env, napi_callback_info info) {
    size_t count = 2, length = 0;
    napi_value arguments[2];
    int32_t descriptor = -1;
    void *bytes = NULL;
    napi_get_cb_info(env, info, &count, arguments, NULL, NULL);
    if (count != 2 || napi_get_value_int32(env, arguments[0], &descriptor) ||
        napi_get_buffer_info(env, arguments[1], &bytes, &length))
        return boolean(env, false);
    return boolean(env, write_all(descriptor, bytes, length));
}

/* What the agent has sent up to the end of a line, which is all: during a step each of its lines
 * answers one of ours. False at its end. */
static bool read_line(char line[LINE_MAX_BYTES]) {
    size_t length = 0;
    while (length < LINE_MAX_BYTES - 1) {
        ssize_t got = read(channel, line + length, LINE_MAX_BYTES - 1 - length);
        if (got > 0) {
            length += (size_t)got;
            line[length] = '\0';
            if (line[length - 1] == '\n')
                return true;
        } else if (got < 0 && errno == EAGAIN) {
            wait_for(channel, POLLIN);
        } else if (got == 0 || errno != EINTR) {
            return false;
        }
    }
    return false;
}

/* drain(): has the agent read both pipes empty, and waits for it. During a step, when the agent
 * sends nothing else. */
static napi_value drain(napi_env env, napi_callback_info info) {
    static const char request[] = "{\"type\":\"drain\"}\n";
    char line[LINE_MAX_BYTES];
    bool there = write_all(channel, request, sizeof request - 1);
    (void)info;
    while (there && (there = read_line(line)) && !strstr(line, "\"drained\"")) {
    }
    return boolean(env, there);
}

void channel_export(napi_env env, napi_value exports) {
    host_export(env, exports, "open", open_channel);
    host_export(env, exports, "write", write_buffer);
    host_export(env, exports, "drain", drain);
}
