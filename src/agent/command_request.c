/* command_request.c - see command_request.h */
#include "command_request.h"

#include "connect_messages.h"
#include "environment.h"

#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define KEEPALIVE_DEFAULT 90.0
#define KEEPALIVE_MAX 86400.0
/* Longer deadlines are none. */
#define TIMEOUT_MAX 1e8

/* The text of an optional member; NULL when it is absent or null. Sets *fault when it is something
 * else, or holds a NUL. */
static const char *text_of(const json_t *object, const char *name, const char **fault) {
    const json_t *value = json_object_get(object, name);
    if (!value || json_is_null(value))
        return NULL;
    const char *text = json_string_value(value);
    if (!text || strlen(text) != json_string_length(value)) {
        *fault = "cmd, args and cwd must be strings without NUL";
        return NULL;
    }
    return text;
}

/* Fills in argv and the rest from the message; returns what is wrong, or NULL. */
static const char *read_process(command_request *parsed) {
    const json_t *process = json_object_get(parsed->message, "process"), *value;
    const json_t *args = json_object_get(process, "args");
    const json_t *envs = json_object_get(process, "envs");
    const char *fault = NULL, *name;
    const char *command = text_of(process, "cmd", &fault);
    size_t count = args && json_is_array(args) ? json_array_size(args) : 0;
    if (!fault && (!command || !*command))
        return "process.cmd is missing";
    if (args && !json_is_array(args) && !json_is_null(args))
        return "process.args must be a list of strings";
    parsed->argv = calloc(count + 2, sizeof *parsed->argv);
    if (!parsed->argv)
        return "out of memory";
    parsed->argv[0] = (char *)command;
    for (size_t i = 0; i < count && !fault; i++) {
        value = json_array_get(args, i);
        parsed->argv[i + 1] = (char *)json_string_value(value);
        if (!json_is_string(value) || strlen(parsed->argv[i + 1]) != json_string_length(value))
            fault = "process.args must be strings without NUL";
    }
    parsed->cwd = text_of(process, "cwd", &fault);
    if (parsed->cwd && !*parsed->cwd)
        parsed->cwd = NULL;
    if (fault || !envs || json_is_null(envs))
        return fault;
    if (!json_is_object(envs))
        return "process.envs must be an object of strings";
    json_object_foreach((json_t *)envs, name, value) {
        if (!json_is_string(value))
            return "process.envs must be an object of strings";
        if ((fault = environment_fault(name, value)))
            return fault;
    }
    parsed->envs = envs;
    return NULL;
}

/* The user of "Authorization: Basic base64(user:)", if it is ours or none. Every program runs as
 * the agent's own user, whom the official sandboxes call "user". */
static bool is_known_user(const http_request *request) {
    static const char alphabet[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *header = http_request_header(request, "Authorization");
    if (!header || strncasecmp(header, "Basic ", 6) != 0)
        return true;
    char name[64];
    size_t length = 0;
    unsigned bits = 0, have = 0;
    for (const char *c = header + 6, *digit; *c && (digit = strchr(alphabet, *c)); c++) {
        bits = bits << 6 | (unsigned)(digit - alphabet);
        have += 6;
        if (have >= 8) {
            have -= 8;
            if (length == sizeof name - 1)
                return false;
            name[length++] = (char)(bits >> have & 0xff);
        }
    }
    name[length] = '\0';
    name[strcspn(name, ":")] = '\0';
    const struct passwd *own = getpwuid(getuid());
    return !*name || strcmp(name, "user") == 0 || (own && strcmp(name, own->pw_name) == 0);
}

/* A number in a header, between 1 and max; otherwise `absent`. */
static double header_number(const http_request *request, const char *name, double max,
                            double absent) {
    const char *text = http_request_header(request, name);
    char *end;
    double number = text ? strtod(text, &end) : 0.0;
    return text && end != text && !*end && number >= 1.0 && number <= max ? number : absent;
}

int command_request_read(http_request *request, command_request *parsed) {
    const char *type = http_request_header(request, "Content-Type"), *text, *fault;
    size_t length, body_length;
    const char *body = http_request_body(request, &body_length);
    *parsed = (command_request){0};
    if (!type || strncasecmp(type, CONNECT_STREAM_TYPE, strlen(CONNECT_STREAM_TYPE)) != 0) {
        http_reply_header(request, "Accept-Post", CONNECT_STREAM_TYPE);
        http_reply(request, 415, NULL, NULL, 0);
        return -1;
    }
    if (!is_known_user(request)) {
        connect_stream_error(request, "unauthenticated", "there is no such user in the sandbox");
        return -1;
    }
    connect_result result = connect_frame_parse(body, body_length, &text, &length);
    if (result != CONNECT_OK) {
        connect_stream_error(request, result == CONNECT_BAD ? "unimplemented" : "invalid_argument",
                             result == CONNECT_BAD ? "compressed messages are not taken"
                                                   : "the message is not whole");
        return -1;
    }
    json_error_t error;
    parsed->message = json_loadb(text, length, JSON_ALLOW_NUL, &error);
    if (!parsed->message || !json_is_object(parsed->message)) {
        connect_stream_error(request, "invalid_argument",
                             parsed->message ? "the message is not an object" : error.text);
    } else if (json_is_object(json_object_get(parsed->message, "pty"))) {
        connect_stream_error(request, "unimplemented", "terminals are not available");
    } else if ((fault = read_process(parsed))) {
        connect_stream_error(request, "invalid_argument", fault);
    } else {
        parsed->keepalive =
            header_number(request, "Keepalive-Ping-Interval", KEEPALIVE_MAX, KEEPALIVE_DEFAULT);
        parsed->timeout =
            header_number(request, "Connect-Timeout-Ms", TIMEOUT_MAX * 1000.0, 0.0) / 1000.0;
        return 0;
    }
    command_request_free(parsed);
    return -1;
}

void command_request_free(command_request *parsed) {
    json_decref(parsed->message);
    free(parsed->argv);
    *parsed = (command_request){0};
}
