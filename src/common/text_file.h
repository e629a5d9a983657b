/*
 * text_file.h - the small files by which the kernel is told something.
 */
#ifndef STEPBOX_TEXT_FILE_H
#define STEPBOX_TEXT_FILE_H

/* Writes a text to a file that is there, in one piece. 0, or -1 with errno. */
int text_file_write(const char *path, const char *text);
/* The same to an open file, which is taken; -1 is passed on. */
int text_file_write_to(int fd, const char *text);

#endif
