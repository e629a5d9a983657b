/*
 * report.h - tells whoever started the engine how the start went: one line on a descriptor,
 * "ready\n" or "error: MESSAGE\n".
 */
#ifndef STEPBOX_REPORT_H
#define STEPBOX_REPORT_H

/* Both close fd; -1 means that nobody asked. */
void report_ready(int fd);

/* Also logs the message. */
void report_error(int fd, const char *message);

#endif
