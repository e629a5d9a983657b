/* upload_body.c - see upload_body.h */
#include "upload_body.h"

#include "files_access.h"
#include "gunzip.h"
#include "multipart.h"
#include "upload_file.h"

#include <stdlib.h>
#include <string.h>

/* Files in one body: each is remembered until the answer. */
#define FILES_MAX 20000

struct upload_body {
    const struct agent *agent;
    const json_t *metadata;
    char *path;         /* of all files, resolved, or NULL */
    gunzip *decoder;    /* or NULL */
    multipart *parts;   /* or NULL */
    upload_file *file;  /* being written, or NULL */
    json_t *entries;    /* of the files written */
    json_t *seen;       /* paths of all files begun, as keys */
    files_fault *fault; /* of the current call */
};

static int open_file(upload_body *body, const char *path, uint64_t expected) {
    if (json_object_size(body->seen) == FILES_MAX)
        return files_fault_set(body->fault, 400,
                               "the request has more than %d files: only the first were written",
                               FILES_MAX);
    if (json_object_get(body->seen, path))
        return files_fault_set(body->fault, 400,
                               "the request has several files for path '%s': only the first was "
                               "written",
                               path);
    json_object_set_new_nocheck(body->seen, path, json_true());
    body->file = upload_file_open(path, expected, body->metadata, body->fault);
    return body->file ? 0 : -1;
}

static int write_file(void *user, const char *bytes, size_t length) {
    upload_body *body = user;
    return body->file ? upload_file_write(body->file, bytes, length, body->fault) : 0;
}

static int finish_file(void *user) {
    upload_body *body = user;
    upload_file *file = body->file;
    if (!file)
        return 0;
    char *path = strdup(upload_file_path(file));
    body->file = NULL;
    if (upload_file_finish(file, body->fault)) {
        free(path);
        return -1;
    }
    json_t *entry = path ? files_access_entry(path, true) : NULL;
    free(path);
    return json_array_append_new(body->entries, entry)
               ? files_fault_set(body->fault, 500, "out of memory")
               : 0;
}

static int begin_part(void *user, const char *name, const char *filename, size_t filename_length) {
    upload_body *body = user;
    if (!name || strcmp(name, "file") != 0)
        return 0;
    if (body->path)
        return open_file(body, body->path, 0);
    if (!filename)
        return files_fault_set(body->fault, 400, "a file of the multipart content has no name");
    char *path = files_access_path(body->agent, filename, filename_length, body->fault);
    int failed = path ? open_file(body, path, 0) : -1;
    free(path);
    return failed;
}

/* Bytes as they are in the request, after a content encoding was undone. */
static int take_plain(void *user, const char *bytes, size_t length) {
    upload_body *body = user;
    if (!body->parts)
        return write_file(body, bytes, length);
    if (multipart_feed(body->parts, bytes, length) == 0)
        return 0;
    const char *fault = multipart_fault(body->parts);
    return fault ? files_fault_set(body->fault, 400, "%s", fault) : -1;
}

static int set_up(upload_body *body, const upload_options *options) {
    static const multipart_events events = {begin_part, write_file, finish_file};
    const char *why = "out of memory";
    body->entries = json_array();
    body->seen = json_object();
    if (options->encoding == CONTENT_GZIP)
        body->decoder = gunzip_new(take_plain, body);
    if (!body->entries || !body->seen || (options->encoding == CONTENT_GZIP && !body->decoder))
        return files_fault_set(body->fault, 500, "%s", why);
    if (options->path) {
        body->path =
            files_access_path(options->agent, options->path, strlen(options->path), body->fault);
        if (!body->path)
            return -1;
    }
    if (!options->multipart)
        return open_file(body, body->path, options->expected);
    body->parts = multipart_new(options->multipart, &events, body, &why);
    return body->parts ? 0 : files_fault_set(body->fault, 400, "%s", why);
}

upload_body *upload_body_new(const upload_options *options, files_fault *fault) {
    upload_body *body = calloc(1, sizeof *body);
    if (!body) {
        files_fault_set(fault, 500, "out of memory");
        return NULL;
    }
    body->agent = options->agent;
    body->metadata = options->metadata;
    body->fault = fault;
    if (set_up(body, options) == 0)
        return body;
    upload_body_free(body);
    return NULL;
}

void upload_body_free(upload_body *body) {
    if (!body)
        return;
    if (body->file)
        upload_file_abort(body->file);
    gunzip_free(body->decoder);
    multipart_free(body->parts);
    json_decref(body->entries);
    json_decref(body->seen);
    free(body->path);
    free(body);
}

long upload_body_feed(upload_body *body, const char *bytes, size_t length, files_fault *fault) {
    bool bad;
    body->fault = fault;
    if (!body->decoder)
        return take_plain(body, bytes, length) ? -1 : (long)length;
    long taken = gunzip_feed(body->decoder, bytes, length, &bad);
    return taken < 0 && bad ? files_fault_set(fault, 400, "the body is not valid gzip") : taken;
}

json_t *upload_body_finish(upload_body *body, files_fault *fault) {
    body->fault = fault;
    if (body->decoder && !gunzip_is_complete(body->decoder))
        files_fault_set(fault, 400, "the gzip of the body ends before its end");
    else if (body->parts && multipart_end(body->parts))
        files_fault_set(fault, 400, "%s", multipart_fault(body->parts));
    else if (finish_file(body) == 0)
        return json_incref(body->entries);
    return NULL;
}
