/* http_content.c - answers that are fetched from their source as the client takes them. */
#include "http_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Bytes fetched at once. libmicrohttpd's chunks are smaller: half of a connection's memory. */
#define BLOCK_SIZE (256 * 1024)

struct content {
    http_content functions;
    void *user;
};

static ssize_t read_content(void *user, uint64_t position, char *to, size_t max) {
    (void)position;
    struct content *content = user;
    ssize_t length = content->functions.read(content->user, to, max);
    if (length > 0)
        return length;
    return length == 0 ? MHD_CONTENT_READER_END_OF_STREAM : MHD_CONTENT_READER_END_WITH_ERROR;
}

static void free_content(void *user) {
    struct content *content = user;
    content->functions.free(content->user);
    free(content);
}

static struct MHD_Response *make_response(const http_content *functions, void *user,
                                          uint64_t length) {
    struct content *content = malloc(sizeof *content);
    if (!content) {
        functions->free(user);
        return NULL;
    }
    *content = (struct content){*functions, user};
    struct MHD_Response *response =
        MHD_create_response_from_callback(length == HTTP_LENGTH_UNKNOWN ? MHD_SIZE_UNKNOWN : length,
                                          BLOCK_SIZE, read_content, content, free_content);
    if (!response)
        free_content(content);
    return response;
}

void http_reply_content(http_request *request, int status, const char *content_type,
                        const http_content *content, void *user, uint64_t length) {
    struct MHD_Response *response;
    if (length == 0 || (length == HTTP_LENGTH_UNKNOWN && strcmp(request->method, "HEAD") == 0)) {
        /* libmicrohttpd (0.9.75) sends the last chunk also to a HEAD request. */
        content->free(user);
        response = MHD_create_response_from_buffer(0, "", MHD_RESPMEM_PERSISTENT);
    } else {
        response = make_response(content, user, length);
    }
    if (response && content_type)
        MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, content_type);
    request->streaming = true;
    http_request_set_response(request, status, response);
    http_request_release(request);
}

/* libmicrohttpd's own way with files, sendfile(), waits for ever when a file has become shorter. */

struct file {
    int fd;
    off_t offset;
};

static ssize_t read_file(void *user, char *to, size_t max) {
    struct file *file = user;
    ssize_t length;
    do {
        length = pread(file->fd, to, max, file->offset);
    } while (length < 0 && errno == EINTR);
    if (length > 0)
        file->offset += length;
    return length;
}

static void free_file(void *user) {
    struct file *file = user;
    close(file->fd);
    free(file);
}

static ssize_t read_nothing(void *user, char *to, size_t max) {
    (void)user, (void)to, (void)max;
    return -1;
}

static void free_nothing(void *user) {
    (void)user;
}

void http_reply_file(http_request *request, int status, const char *content_type, int fd,
                     uint64_t offset, uint64_t length) {
    static const http_content bytes = {read_file, free_file}, none = {read_nothing, free_nothing};
    struct file *file = malloc(sizeof *file);
    if (!file)
        close(fd);
    else
        *file = (struct file){fd, (off_t)offset};
    http_reply_content(request, status, content_type, file ? &bytes : &none, file, length);
}
