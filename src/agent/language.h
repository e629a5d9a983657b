/*
 * language.h - finds the languages that steps can be in, and how their runners are started.
 */
#ifndef STEPBOX_LANGUAGE_H
#define STEPBOX_LANGUAGE_H

#include "language_table.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LANGUAGE_NAME_MAX 64
/* Bytes of what is said of a language that is missing. */
#define LANGUAGE_FAULT_MAX 600

/* The name as contexts carry it: trimmed, in lower case, "" and aliases resolved, cut at
 * LANGUAGE_NAME_MAX. */
void language_normalize(const char *name, char normal[LANGUAGE_NAME_MAX]);
/* By its normalized name; NULL when the table has none such, or its runner is not in `runners`. */
const struct language *language_find(const char *normal, const char *runners);
/* Whether its runner is in `runners`. */
bool language_has_runner(const struct language *language, const char *runners);
/* Whether all that it needs is installed here; if not, says what is missing and how to get it. */
bool language_is_installed(const struct language *language, char fault[LANGUAGE_FAULT_MAX]);

typedef struct language_command {
    char *argv[LANGUAGE_WORDS + 6];
    char file[4096];
    char heap[64];
    char channel[12];
} language_command;

/* Fills in the command of the runner, for a channel on the descriptor. data: bytes of its own
 * memory that it may write to, 0: any number. 0, or -1 when a path is too long. */
int language_start_command(const struct language *language, const char *runners, int channel,
                           int64_t data, language_command *command);

#endif
