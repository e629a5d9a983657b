/*
 * upload_body.h - the body of an upload on its way to files: unpacked, taken apart, written.
 */
#ifndef STEPBOX_UPLOAD_BODY_H
#define STEPBOX_UPLOAD_BODY_H

#include "agent.h"
#include "content_encoding.h"
#include "files_fault.h"

typedef struct upload_body upload_body;

/* Everything is borrowed for the time of upload_body_new(), metadata for longer. */
typedef struct upload_options {
    const struct agent *agent;
    const char *multipart; /* the content type, when the body has parts; NULL: it is one file */
    const char *path;      /* as the client gave it; NULL: that of each part */
    content_encoding encoding;
    uint64_t expected; /* bytes of one file; 0: not known */
    const json_t *metadata;
} upload_options;

/* NULL with the fault. One file is opened at once. */
upload_body *upload_body_new(const upload_options *options, files_fault *fault);
/* A file that is not complete is given up. */
void upload_body_free(upload_body *body);

/* Returns how many bytes it took; it wants the rest later, since packed bytes can be many more.
 * -1 with the fault. */
long upload_body_feed(upload_body *body, const char *bytes, size_t length, files_fault *fault);
/* Returns the list of the files that were written; NULL with the fault. */
json_t *upload_body_finish(upload_body *body, files_fault *fault);

#endif
