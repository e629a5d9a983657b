/*
 * usage.h - what `stepboxd --help` and `--version` print.
 */
#ifndef STEPBOX_USAGE_H
#define STEPBOX_USAGE_H

#include <stdio.h>

void usage_print(FILE *out);
void usage_print_version(FILE *out);

#endif
