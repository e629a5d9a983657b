/*
 * json_scan.h - looks through JSON without building anything of it.
 */
#ifndef STEPBOX_JSON_SCAN_H
#define STEPBOX_JSON_SCAN_H

#include <stdbool.h>
#include <stddef.h>

/* What is wrong first with a text, in the words of Python's json module, which the official code
 * interpreter's answers show, and at which character (counted from 0); NULL when Python would take
 * it. The text must be UTF-8. */
const char *json_fault(const char *text, size_t length, size_t *position);

/* Copies the text of an object's member "type". False when the line is not one JSON object in
 * ASCII, or has no such text, or one that is longer than `size` or has escapes. */
bool json_object_type(const char *line, size_t length, char *type, size_t size);

#endif
