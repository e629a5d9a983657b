/*
 * line.h - JSON as it goes to the agent: written into a growing buffer, in ASCII.
 */
#ifndef STEPBOX_RUNNER_LINE_H
#define STEPBOX_RUNNER_LINE_H

#include <stdbool.h>
#include <stddef.h>

/* Zeroed is empty. What does not fit into memory sets `failed`, and nothing more is added. */
struct line {
    char *bytes;
    size_t length, room;
    bool failed;
};

void line_add(struct line *line, const char *bytes, size_t length);
void line_add_text(struct line *line, const char *text);
/* Adds a JSON string with its quotes. A byte that is no part of a UTF-8 character becomes U+FFFD.
 */
void line_add_string(struct line *line, const char *bytes, size_t length);
void line_free(struct line *line);

#endif
