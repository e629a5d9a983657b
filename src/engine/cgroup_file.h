/*
 * cgroup_file.h - reads and writes the small files of control groups.
 *
 * A group is named by an open directory and a path below it. Errors are errno's.
 */
#ifndef STEPBOX_CGROUP_FILE_H
#define STEPBOX_CGROUP_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Of a file that is read whole: memory.stat has some 2 KiB. */
#define CGROUP_FILE_MAX 8192

/* What files write "max" for, or -1 in older ones. */
#define CGROUP_NO_LIMIT INT64_MAX

/* `group` is "." for the directory itself. 0, or -1 with errno. */
int cgroup_file_write(int directory, const char *group, const char *file, const char *text);
int cgroup_file_write_number(int directory, const char *group, const char *file, int64_t number);

/* The text, NUL-terminated and cut to the room. 0, or -1 with errno. */
int cgroup_file_read(int directory, const char *group, const char *file,
                     char text[CGROUP_FILE_MAX]);
/* A file that has one number. 0, or -1 with errno. */
int cgroup_file_read_number(int directory, const char *group, const char *file, int64_t *number);

/* The number behind a name in lines of "name number". False when there is no such line. */
bool cgroup_text_number(const char *text, const char *name, int64_t *number);
/* Whether a word is among those that white space separates. */
bool cgroup_text_has(const char *text, const char *word);

#endif
