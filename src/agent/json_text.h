/* json_text.h - bytes that should be UTF-8, such as names of files, as JSON. */
#ifndef STEPBOX_JSON_TEXT_H
#define STEPBOX_JSON_TEXT_H

#include <jansson.h>
#include <stddef.h>

/* A string of the bytes, each that is not part of a character shown as U+FFFD. NULL when out of
 * memory. */
json_t *json_text(const char *bytes, size_t length);

#endif
