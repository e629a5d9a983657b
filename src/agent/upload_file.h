/*
 * upload_file.h - one file that is being uploaded.
 */
#ifndef STEPBOX_UPLOAD_FILE_H
#define STEPBOX_UPLOAD_FILE_H

#include "files_fault.h"

#include <stdint.h>

typedef struct upload_file upload_file;

/* Opens the path for writing, over what is there, and makes its parents. expected: bytes that are
 * announced, or 0; more than fit are refused while the file is still what it was. metadata is
 * borrowed, or NULL. */
upload_file *upload_file_open(const char *path, uint64_t expected, const json_t *metadata,
                              files_fault *fault);
const char *upload_file_path(const upload_file *file);
int upload_file_write(upload_file *file, const char *bytes, size_t length, files_fault *fault);
/* Everything was written. Frees the file, also when it fails. */
int upload_file_finish(upload_file *file, files_fault *fault);
/* The upload failed. A file that it has made is removed again; one that it has overwritten keeps
 * what was written so far. */
void upload_file_abort(upload_file *file);

#endif
