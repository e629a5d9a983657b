/*
 * json_fault.h - where a text stops being JSON, in the words of Python's json module, which the
 * official code interpreter's answers show.
 */
#ifndef STEPBOX_JSON_FAULT_H
#define STEPBOX_JSON_FAULT_H

#include <stddef.h>

/* What is wrong first, and at which character (counted from 0); NULL when Python would take the
 * text. It must be UTF-8. */
const char *json_fault(const char *text, size_t length, size_t *position);

#endif
