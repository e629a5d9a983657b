/*
 * gzip_file.h - the bytes of a file as gzip, made as they are taken.
 */
#ifndef STEPBOX_GZIP_FILE_H
#define STEPBOX_GZIP_FILE_H

#include "http_server.h"

typedef struct gzip_file gzip_file;

/* Takes the descriptor. NULL when out of memory. */
gzip_file *gzip_file_new(int fd);
/* An http_content's functions. */
ssize_t gzip_file_read(void *user, char *to, size_t max);
void gzip_file_free(void *user);

#endif
