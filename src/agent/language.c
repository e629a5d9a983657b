/* language.c - the table of languages. */
#include "language.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

struct language {
    const char *name;
    const char *program; /* preferred: what is later on PATH may be a user's own */
    const char *on_path;
    const char *file; /* in the runner's directory */
};

static const struct language languages[] = {
    {.name = "python", .program = "/usr/bin/python3", .on_path = "python3", .file = "main.py"},
};

static const char *const aliases[][2] = {
    {"", "python"},
    {"py", "python"},
    {"python3", "python"},
};

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

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
    for (size_t i = 0; i < COUNT(aliases); i++) {
        if (strcmp(normal, aliases[i][0]) == 0)
            strcpy(normal, aliases[i][1]);
    }
}

static int runner_file(const struct language *language, const char *runners, char *path,
                       size_t size) {
    int length = snprintf(path, size, "%s/%s/%s", runners, language->name, language->file);
    return length < 0 || (size_t)length >= size ? -1 : 0;
}

const struct language *language_find(const char *normal, const char *runners) {
    for (size_t i = 0; i < COUNT(languages); i++) {
        char path[4096];
        if (strcmp(languages[i].name, normal) == 0)
            return runner_file(&languages[i], runners, path, sizeof path) == 0 &&
                           access(path, R_OK) == 0
                       ? &languages[i]
                       : NULL;
    }
    return NULL;
}

const char *language_name(const struct language *language) {
    return language->name;
}

int language_start_command(const struct language *language, const char *runners, int channel,
                           language_command *command) {
    if (runner_file(language, runners, command->file, sizeof command->file))
        return -1;
    snprintf(command->channel, sizeof command->channel, "%d", channel);
    bool preferred = access(language->program, X_OK) == 0;
    command->argv[0] = (char *)(preferred ? language->program : language->on_path);
    command->argv[1] = command->file;
    command->argv[2] = command->channel;
    command->argv[3] = NULL;
    return 0;
}
