/* files_get.c - GET and HEAD /files: downloads, read as they are taken. */
#include "files_access.h"
#include "files_service.h"

#include "content_encoding.h"
#include "file_description.h"
#include "gzip_file.h"
#include "http_range.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

/* Bytes below which packing gains nothing. */
#define GZIP_MIN 1024

struct download {
    http_request *request;
    char *path;
    int fd;
    uint64_t size; /* HTTP_LENGTH_UNKNOWN: of a file that says nothing of it, as in /proc */
    struct stat info;
    files_fault fault;
};

/* Only what is a regular file is opened at all: the other end of a pipe would notice. */
static int open_file(struct download *download) {
    const char *path = download->path;
    struct stat *info = &download->info;
    if (stat(path, info))
        return files_fault_errno(&download->fault, errno, "reading", path);
    if (S_ISREG(info->st_mode)) {
        download->fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
        if (download->fd < 0 || fstat(download->fd, info))
            return files_fault_errno(&download->fault, errno, "opening", path);
    }
    if (S_ISDIR(info->st_mode))
        return files_fault_errno(&download->fault, EISDIR, "reading", path);
    if (!S_ISREG(info->st_mode))
        return files_fault_set(&download->fault, 400, "path '%s' is not a regular file", path);
    return 0;
}

/* Files that the kernel makes up say that they are empty, or one page, and are not. */
static int find_size(struct download *download) {
    struct statfs system;
    char byte;
    download->size = (uint64_t)download->info.st_size;
    bool made_up = fstatfs(download->fd, &system) == 0 && system.f_type == SYSFS_MAGIC;
    if (download->size > 0 && !made_up)
        return 0;
    ssize_t got = pread(download->fd, &byte, 1, 0);
    if (got < 0)
        return files_fault_errno(&download->fault, errno, "reading", download->path);
    download->size = got == 0 ? 0 : HTTP_LENGTH_UNKNOWN;
    return 0;
}

/* Whether the client's copy is the file as it is; then only that is answered. */
static bool answer_not_modified(struct download *download, const char *tag) {
    http_request *request = download->request;
    const char *none_match = http_request_header(request, "If-None-Match");
    const char *since = http_request_header(request, "If-Modified-Since");
    if (none_match ? !file_tag_is_in(tag, none_match)
                   : !since || !file_is_unmodified_since(&download->info, since))
        return false;
    http_reply(request, 304, NULL, NULL, 0);
    return true;
}

/* The whole file or a part, as it is. The descriptor is taken, or left in the download. */
static void answer_plain(struct download *download, const char *tag, const char *type) {
    http_request *request = download->request;
    uint64_t size = download->size, offset = 0, length = size;
    const char *condition = http_request_header(request, "If-Range");
    const char *header = http_request_header(request, "Range");
    http_range range = HTTP_RANGE_WHOLE;
    char text[100];
    /* An empty file has no part that one could ask for. */
    if (size > 0 && size != HTTP_LENGTH_UNKNOWN) {
        http_reply_header(request, "Accept-Ranges", "bytes");
        if (!condition || file_is_what_was_read(&download->info, tag, condition))
            range = http_range_parse(header, size, &offset, &length);
    }
    if (range == HTTP_RANGE_BEYOND) {
        snprintf(text, sizeof text, "bytes */%" PRIu64, size);
        http_reply_header(request, "Content-Range", text);
        snprintf(text, sizeof text, "the range is beyond the file's %" PRIu64 " bytes", size);
        agent_reply_error(request, 416, text);
        return;
    }
    if (range == HTTP_RANGE_PART) {
        snprintf(text, sizeof text, "bytes %" PRIu64 "-%" PRIu64 "/%" PRIu64, offset,
                 offset + length - 1, size);
        http_reply_header(request, "Content-Range", text);
    }
    http_reply_file(request, range == HTTP_RANGE_PART ? 206 : 200, type, download->fd, offset,
                    length);
    download->fd = -1;
}

static void answer_gzip(struct download *download, const char *type) {
    static const http_content functions = {gzip_file_read, gzip_file_free};
    gzip_file *file = gzip_file_new(download->fd);
    download->fd = -1;
    if (!file) {
        agent_reply_error(download->request, 500, "out of memory");
        return;
    }
    http_reply_header(download->request, "Content-Encoding", "gzip");
    http_reply_content(download->request, 200, type, &functions, file, HTTP_LENGTH_UNKNOWN);
}

static bool has_header(const http_request *request, const char *name) {
    return http_request_header(request, name) != NULL;
}

/* Parts, and comparisons with the client's copy, are of the bytes as they are; so is what HEAD
 * tells. */
static content_encoding choose_encoding(const struct download *download) {
    const http_request *request = download->request;
    const char *accept = http_request_header(request, "Accept-Encoding");
    bool plain = download->size < GZIP_MIN || has_header(request, "Range") ||
                 has_header(request, "If-None-Match") || has_header(request, "If-Modified-Since") ||
                 has_header(request, "If-Range");
    bool identity = content_encoding_accepts_identity(accept);
    if (has_header(request, "Range") && !identity)
        return CONTENT_UNKNOWN;
    if (identity && (plain || strcmp(http_request_method(request), "HEAD") == 0))
        return CONTENT_IDENTITY;
    return content_encoding_choose(accept);
}

static void answer(struct download *download) {
    http_request *request = download->request;
    char tag[FILE_TAG_SIZE], modified[FILE_DATE_SIZE];
    const char *type = file_content_type(download->path);
    char *disposition = file_disposition(download->path);
    content_encoding encoding = choose_encoding(download);
    http_reply_header(request, "Vary", "Accept-Encoding");
    if (encoding == CONTENT_UNKNOWN) {
        agent_reply_error(request, 406,
                          "no acceptable encoding found, supported: [identity, gzip]");
        free(disposition);
        return;
    }
    file_tag(&download->info, tag);
    if (download->size != HTTP_LENGTH_UNKNOWN && encoding == CONTENT_IDENTITY)
        http_reply_header(request, "ETag", tag);
    if (download->size != HTTP_LENGTH_UNKNOWN && file_date(&download->info, modified))
        http_reply_header(request, "Last-Modified", modified);
    if (disposition)
        http_reply_header(request, "Content-Disposition", disposition);
    free(disposition);
    if (encoding == CONTENT_GZIP)
        answer_gzip(download, type);
    else if (!answer_not_modified(download, tag))
        answer_plain(download, tag, type);
}

void files_get(struct agent *agent, http_request *request) {
    const char *path = http_request_query(request, "path");
    struct download download = {.request = request, .fd = -1};
    files_fault *fault = &download.fault;
    if (files_access_check(agent, request, "read", fault) == 0)
        download.path = files_access_path(agent, path ? path : "", path ? strlen(path) : 0, fault);
    if (download.path && open_file(&download) == 0 && find_size(&download) == 0)
        answer(&download);
    else
        files_access_refuse(request, fault);
    if (download.fd >= 0)
        close(download.fd);
    free(download.path);
}
