/*
 * filesystem_fixture.h - for tests: calls of filesystem.Filesystem, and files below the home
 * directory.
 */
#ifndef STEPBOX_SPEC_FILESYSTEM_FIXTURE_H
#define STEPBOX_SPEC_FILESYSTEM_FIXTURE_H

#include "agent_fixture.h"

#include "connect_messages.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>

/* The path of something in the home directory; valid until the fourth next call. */
static inline const char *below(const char *name) {
    static char paths[4][2 * PATH_MAX];
    static unsigned next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", directory, name);
    return path;
}

static inline void send_call(struct client *client, const char *procedure, const char *body) {
    char path[200];
    snprintf(path, sizeof path, "/filesystem.Filesystem/%s", procedure);
    request_json(client, "POST", path, body);
}

/* The answer's message, to be decref'ed. */
static inline json_t *take_message(struct client *client, int status) {
    struct answer answer = read_answer(client, false);
    if (answer.status != status)
        print_error("%s\n", answer.body);
    assert_int_equal(answer.status, status);
    assert_false(answer.cut);
    assert_non_null(strcasestr(answer.head, "\r\nContent-Type: application/json\r\n"));
    json_t *message = json_loadb(answer.body, answer.length, 0, NULL);
    assert_non_null(message);
    free(answer.body);
    return message;
}

static inline json_t *call(struct client *client, const char *procedure, const char *body,
                           int status) {
    send_call(client, procedure, body);
    return take_message(client, status);
}

/* Calls with a message made by json_pack(), whose reference is taken. */
static inline json_t *call_with(struct client *client, const char *procedure, json_t *message,
                                int status) {
    char *body = json_dumps(message, 0);
    json_t *answer = call(client, procedure, body, status);
    free(body);
    json_decref(message);
    return answer;
}

static inline json_t *call_path(struct client *client, const char *procedure, const char *path,
                                int status) {
    return call_with(client, procedure, json_pack("{s:s}", "path", path), status);
}

static inline const char *text_member(const json_t *object, const char *name) {
    const char *text = json_string_value(json_object_get(object, name));
    return text ? text : "";
}

/* Takes an error: its code, and a part of its message. */
static inline void expect_error(json_t *answer, const char *code, const char *part) {
    assert_string_equal(text_member(answer, "code"), code);
    if (!strstr(text_member(answer, "message"), part))
        print_error("message: %s\n", text_member(answer, "message"));
    assert_non_null(strstr(text_member(answer, "message"), part));
    json_decref(answer);
}

static inline void make_file_at(const char *path) {
    int fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0644);
    assert_true(fd >= 0);
    close(fd);
}

/* system() cannot be used: the loop reaps its shell. */
static inline void run_shell(const char *command) {
    char byte;
    FILE *shell = popen(command, "r");
    assert_non_null(shell);
    while (fread(&byte, 1, 1, shell) == 1)
        ;
    pclose(shell);
}

static inline int count_descriptors(void) {
    int count = 0;
    DIR *list = opendir("/proc/self/fd");
    while (readdir(list))
        count++;
    closedir(list);
    return count;
}

#endif
