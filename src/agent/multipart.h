/*
 * multipart.h - reads multipart/form-data as it comes.
 */
#ifndef STEPBOX_MULTIPART_H
#define STEPBOX_MULTIPART_H

#include <stddef.h>

#define MULTIPART_HEADERS_MAX (32 * 1024) /* bytes of a part's headers */

typedef struct multipart multipart;

/* What is told of the parts. A function that returns -1 ends the reading. */
typedef struct multipart_events {
    /* A part begins. Its names are as they came, without the quotes; NULL: not given. The length
     * tells of a NUL in the file's name. */
    int (*begin)(void *user, const char *name, const char *filename, size_t filename_length);
    int (*data)(void *user, const char *bytes, size_t length);
    int (*end)(void *user);
} multipart_events;

/* From the Content-Type header. NULL: *fault says what is wrong with it. */
multipart *multipart_new(const char *content_type, const multipart_events *events, void *user,
                         const char **fault);
void multipart_free(multipart *parser);

/* 0; or -1: multipart_fault() says what is wrong, or an event ended it. */
int multipart_feed(multipart *parser, const char *bytes, size_t length);
/* The body is complete: 0, or -1 when its end is missing. */
int multipart_end(multipart *parser);
/* NULL when it was an event. */
const char *multipart_fault(const multipart *parser);

#endif
