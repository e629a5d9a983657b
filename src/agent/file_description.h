/*
 * file_description.h - what HTTP headers say of a file: its type, name, version and time.
 */
#ifndef STEPBOX_FILE_DESCRIPTION_H
#define STEPBOX_FILE_DESCRIPTION_H

#include <stdbool.h>
#include <sys/stat.h>

/* By the name's extension; application/octet-stream when it says nothing. */
const char *file_content_type(const char *path);
/* Content-Disposition with the name, to be freed; NULL when out of memory. */
char *file_disposition(const char *path);

#define FILE_TAG_SIZE 80
/* The ETag: another one when the file has changed. */
void file_tag(const struct stat *info, char tag[FILE_TAG_SIZE]);
/* Whether a list of tags, or "*", has it. */
bool file_tag_is_in(const char *tag, const char *list);

#define FILE_DATE_SIZE 40
/* When it was modified; false when the year cannot be shown. */
bool file_date(const struct stat *info, char date[FILE_DATE_SIZE]);
bool file_is_unmodified_since(const struct stat *info, const char *date);
/* Whether a tag or date, of the header If-Range, is that of the file as it is. */
bool file_is_what_was_read(const struct stat *info, const char *tag, const char *condition);

#endif
