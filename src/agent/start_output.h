/*
 * start_output.h - the last of what a runner wrote before it was ready, to be shown when it never
 * is.
 */
#ifndef STEPBOX_START_OUTPUT_H
#define STEPBOX_START_OUTPUT_H

#include <jansson.h>
#include <stddef.h>

/* Bytes that are kept. */
#define START_OUTPUT_MAX 4096

/* Starts zeroed. */
struct start_output {
    char bytes[START_OUTPUT_MAX];
    size_t length;
};

/* Of both streams, as it came. */
void start_output_add(struct start_output *output, const char *bytes, size_t length);
/* A string, in which what is not UTF-8 is U+FFFD. A new reference; NULL when out of memory. */
json_t *start_output_text(const struct start_output *output);

#endif
