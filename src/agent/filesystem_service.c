/* filesystem_service.c - calls about single files: what is there, and making directories. */
#include "filesystem_service.h"

#include "connect_messages.h"
#include "connect_unary.h"
#include "entry_info.h"
#include "filesystem_request.h"
#include "path.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static void stat_path(http_request *request, const char *path) {
    json_t *entry = entry_info(path);
    /* Nothing can be below a file: to a client that asks whether it exists that is a no. */
    int error = errno == ENOTDIR ? ENOENT : errno;
    if (entry)
        connect_unary_reply(request, json_pack("{s:o}", "entry", entry));
    else
        filesystem_reply_error(
            request, error == ENOENT ? "file not found:" : "cannot get file info of", path, error);
}

void filesystem_stat(struct agent *agent, http_request *request) {
    json_t *message = filesystem_read(request);
    if (!message)
        return;
    char *path = filesystem_path(agent, request, message, "path", connect_reply_error);
    if (path)
        stat_path(request, path);
    free(path);
    json_decref(message);
}

static void reply_there(http_request *request, const char *path, bool is_directory) {
    char text[FILESYSTEM_MESSAGE_SIZE];
    snprintf(text, sizeof text,
             is_directory ? "directory already exists: %s"
                          : "path already exists but it is not a directory: %s",
             path);
    connect_reply_error(request, is_directory ? "already_exists" : "invalid_argument", text);
}

static void make_dir(http_request *request, const char *path) {
    struct stat there;
    if (stat(path, &there) == 0) {
        reply_there(request, path, S_ISDIR(there.st_mode));
        return;
    }
    if (errno != ENOENT || path_make_directories(path)) {
        filesystem_reply_error(request, "cannot make the directory", path, errno);
        return;
    }
    stat_path(request, path);
}

void filesystem_make_dir(struct agent *agent, http_request *request) {
    json_t *message = filesystem_read(request);
    if (!message)
        return;
    char *path = filesystem_path(agent, request, message, "path", connect_reply_error);
    if (path)
        make_dir(request, path);
    free(path);
    json_decref(message);
}
