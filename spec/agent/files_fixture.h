/*
 * files_fixture.h - for tests of /files: requests to the agent, and files in its home.
 */
#ifndef STEPBOX_SPEC_FILES_FIXTURE_H
#define STEPBOX_SPEC_FILES_FIXTURE_H

#include "agent_fixture.h"

#include <fcntl.h>
#include <sys/stat.h>

#define OCTETS "Content-Type: application/octet-stream\r\n"

/* Makes a request on a connection of its own. */
static inline struct answer ask(const char *method, const char *path, const char *headers,
                                const char *body, size_t length) {
    struct client *client = connect_envd(&from_client);
    request(client, method, path, headers, body, length);
    struct answer answer = read_answer(client, strcmp(method, "HEAD") == 0);
    disconnect(client);
    return answer;
}

static inline struct answer download(const char *path, const char *headers) {
    return ask("GET", path, headers, "", 0);
}

/* Fails unless the status and a part of the message are these. */
static inline void expect_error(struct answer answer, int status, const char *part) {
    json_t *error = json_loadb(answer.body, answer.length, 0, NULL);
    const char *message = json_string_value(json_object_get(error, "message"));
    if (answer.status != status || !message || !strstr(message, part))
        fail_msg("%d %s", answer.status, answer.body);
    assert_int_equal(json_integer_value(json_object_get(error, "code")), status);
    json_decref(error);
    free(answer.body);
}

static inline void expect_body(struct answer answer, int status, const char *bytes, size_t length) {
    if (answer.status != status || answer.length != length || memcmp(answer.body, bytes, length))
        fail_msg("%d, %zu bytes: %.300s", answer.status, answer.length, answer.body);
    free(answer.body);
}

static inline bool head_has(const struct answer *answer, const char *line) {
    char text[300];
    snprintf(text, sizeof text, "\r\n%s\r\n", line);
    return strcasestr(answer->head, text) != NULL;
}

/* The file's bytes, NUL-terminated behind; NULL when there is none. */
static inline char *file_bytes(const char *name, size_t *length) {
    char path[4200];
    in_directory(path, sizeof path, name);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return NULL;
    struct stat info;
    assert_int_equal(fstat(fd, &info), 0);
    char *bytes = calloc(1, (size_t)info.st_size + 1);
    assert_int_equal(read(fd, bytes, (size_t)info.st_size), info.st_size);
    close(fd);
    *length = (size_t)info.st_size;
    return bytes;
}

static inline void expect_file(const char *name, const char *bytes, size_t length) {
    size_t got;
    char *there = file_bytes(name, &got);
    if (!there)
        fail_msg("there is no %s", name);
    assert_int_equal(got, length);
    assert_memory_equal(there, bytes, length);
    free(there);
}

static inline bool exists(const char *name) {
    char path[4200];
    struct stat info;
    in_directory(path, sizeof path, name);
    return lstat(path, &info) == 0;
}

#endif
