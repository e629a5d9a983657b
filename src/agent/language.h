/*
 * language.h - the languages that steps can be in, and how their runners are started.
 *
 * A language is available when the directory of runners has one of its name.
 */
#ifndef STEPBOX_LANGUAGE_H
#define STEPBOX_LANGUAGE_H

#include <stdbool.h>
#include <stddef.h>

#define LANGUAGE_NAME_MAX 64

struct language;

/* The name as contexts carry it: trimmed, in lower case, "" and aliases resolved, cut at
 * LANGUAGE_NAME_MAX. */
void language_normalize(const char *name, char normal[LANGUAGE_NAME_MAX]);
/* By its normalized name; NULL when there is none such, or its runner is not in `runners`. */
const struct language *language_find(const char *normal, const char *runners);
const char *language_name(const struct language *language);

typedef struct language_command {
    char *argv[5];
    char file[4096];
    char channel[12];
} language_command;

/* Fills in the command of the runner, for a channel on the descriptor. 0, or -1 when a path is too
 * long. */
int language_start_command(const struct language *language, const char *runners, int channel,
                           language_command *command);

#endif
