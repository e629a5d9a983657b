/* language.c - see language.h */
#include "language.h"

#include <glob.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MIB (1024 * 1024)
/* Of a runner's memory: the interpreter's own, code and stacks are in the rest. */
#define HEAP_EIGHTHS 5

static bool has_name(const struct language *language, const char *name) {
    if (strcmp(language->name, name) == 0)
        return true;
    for (size_t i = 0; language->aliases[i]; i++) {
        if (strcmp(language->aliases[i], name) == 0)
            return true;
    }
    return false;
}

static const struct language *in_table(const char *name) {
    for (size_t i = 0; i < language_table_size; i++) {
        if (has_name(&language_table[i], name))
            return &language_table[i];
    }
    return NULL;
}

void language_normalize(const char *name, char normal[LANGUAGE_NAME_MAX]) {
    static const char space[] = " \t\r\n\f\v";
    name += strspn(name, space);
    size_t length = strlen(name);
    while (length && strchr(space, name[length - 1]))
        length--;
    if (length >= LANGUAGE_NAME_MAX)
        length = LANGUAGE_NAME_MAX - 1;
    for (size_t i = 0; i < length; i++)
        normal[i] = name[i] >= 'A' && name[i] <= 'Z' ? (char)(name[i] | 0x20) : name[i];
    normal[length] = '\0';
    const struct language *language = in_table(normal);
    if (language)
        strcpy(normal, language->name);
}

static int runner_file(const struct language *language, const char *runners, char *path,
                       size_t size) {
    int length = snprintf(path, size, "%s/%s/%s", runners, language->folder, language->file);
    return length < 0 || (size_t)length >= size ? -1 : 0;
}

bool language_has_runner(const struct language *language, const char *runners) {
    char path[4096];
    return runner_file(language, runners, path, sizeof path) == 0 && access(path, R_OK) == 0;
}

const struct language *language_find(const char *normal, const char *runners) {
    const struct language *language = in_table(normal);
    return language && language_has_runner(language, runners) ? language : NULL;
}

/* Whether execvp(3) would find it. */
static bool is_on_path(const char *program) {
    const char *path = getenv("PATH");
    for (const char *at = path ? path : "/bin:/usr/bin"; *at;) {
        size_t length = strcspn(at, ":");
        char file[4096];
        int written = snprintf(file, sizeof file, "%.*s/%s", (int)length, at, program);
        if (written > 0 && (size_t)written < sizeof file && access(file, X_OK) == 0)
            return true;
        at += length + (at[length] == ':');
    }
    return false;
}

/* The path that is there, or else the name on PATH, which need not be. */
static const char *choose_program(const struct language *language) {
    const char *const *program = language->programs;
    while (program[1] && access(*program, X_OK) != 0)
        program++;
    return *program;
}

static bool is_there(const char *alternatives) {
    bool found = false;
    for (const char *at = alternatives; *at && !found;) {
        size_t length = strcspn(at, ":");
        char pattern[512];
        glob_t paths;
        snprintf(pattern, sizeof pattern, "%.*s", (int)length, at);
        if (glob(pattern, 0, NULL, &paths) == 0) {
            found = true;
            globfree(&paths);
        }
        at += length + (at[length] == ':');
    }
    return found;
}

static bool is_missing(const struct language *language, const char **what) {
    const char *program = choose_program(language);
    *what = program;
    if (*program != '/' && !is_on_path(program))
        return true;
    for (size_t i = 0; i < LANGUAGE_NEEDS && language->needs[i]; i++) {
        *what = language->needs[i];
        if (!is_there(language->needs[i]))
            return true;
    }
    return false;
}

bool language_is_installed(const struct language *language, char fault[LANGUAGE_FAULT_MAX]) {
    const char *what;
    *fault = '\0';
    if (!is_missing(language, &what))
        return true;
    snprintf(fault, LANGUAGE_FAULT_MAX,
             "'%s' is not installed: there is no %.*s. Install it on the host, where sandboxes get "
             "their programs from (Debian and Ubuntu: apt-get install %s)",
             language->name, (int)strcspn(what, ":"), what, language->packages);
    return false;
}

int language_start_command(const struct language *language, const char *runners, int channel,
                           int64_t data, language_command *command) {
    if (runner_file(language, runners, command->file, sizeof command->file))
        return -1;
    size_t count = 0;
    snprintf(command->channel, sizeof command->channel, "%d", channel);
    command->argv[count++] = (char *)choose_program(language);
    for (size_t i = 0; i < LANGUAGE_WORDS && language->options[i]; i++)
        command->argv[count++] = (char *)language->options[i];
    if (language->heap_option && data > 0) {
        snprintf(command->heap, sizeof command->heap, "%s%" PRId64, language->heap_option,
                 data / 8 * HEAP_EIGHTHS / MIB);
        command->argv[count++] = command->heap;
    }
    command->argv[count++] = command->file;
    command->argv[count++] = command->channel;
    command->argv[count++] = (char *)language->variant;
    command->argv[count] = NULL;
    return 0;
}
