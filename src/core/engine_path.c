#include "engine_path.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Relative to the directory of the library that holds this code, or of the program: beside it; bin
 * beside lib; as built; and as installed for Lua, PREFIX/lib/lua/5.4/stepbox/core.so. */
static const char *const beside[] = {"stepboxd", "../bin/stepboxd", "../../bin/stepboxd",
                                     "../../../../bin/stepboxd"};

static bool is_program(const char *path) {
    struct stat status;
    return stat(path, &status) == 0 && S_ISREG(status.st_mode) && access(path, X_OK) == 0;
}

/* Takes path (may be NULL): gives it back when a program is there, else notes it and frees it. */
static char *check(char *path, struct sbi_buffer *tried) {
    if (path == NULL || is_program(path)) {
        return path;
    }
    if (tried->length > 0) {
        sbi_buffer_append_string(tried, ", ");
    }
    sbi_buffer_append_string(tried, path);
    free(path);
    return NULL;
}

static char *join(const char *directory, size_t length, const char *name) {
    char *path;
    return asprintf(&path, "%.*s/%s", (int)length, directory, name) < 0 ? NULL : path;
}

static char *beside_library(struct sbi_buffer *tried) {
    Dl_info info;
    if (dladdr((void *)&sbi_engine_path, &info) == 0 || info.dli_fname == NULL) {
        return NULL;
    }
    /* Symbolic links are followed: an installed module may be one. */
    char *library = realpath(info.dli_fname, NULL);
    const char *slash = library != NULL ? strrchr(library, '/') : NULL;
    char *path = NULL;
    for (size_t i = 0; slash != NULL && path == NULL && i < sizeof beside / sizeof *beside; i++) {
        path = check(join(library, (size_t)(slash - library), beside[i]), tried);
    }
    free(library);
    return path;
}

static char *on_path(struct sbi_buffer *tried) {
    const char *list = getenv("PATH");
    while (list != NULL && *list != '\0') {
        size_t length = strcspn(list, ":");
        /* An entry that is not absolute would take the engine from wherever the host happens to be.
         */
        char *path = list[0] == '/' ? join(list, length, "stepboxd") : NULL;
        if (path != NULL && is_program(path)) {
            return path;
        }
        free(path);
        list += length + (list[length] == ':');
    }
    sbi_buffer_append_string(tried, tried->length > 0 ? ", and PATH" : "PATH");
    return NULL;
}

char *sbi_engine_path(const struct sbi_config *config, const char *installed,
                      struct sbi_buffer *tried) {
    if (config->engine != NULL) {
        return check(strdup(config->engine), tried);
    }
    char *path = beside_library(tried);
    if (path == NULL) {
        path = check(join(installed, strlen(installed), "stepboxd"), tried);
    }
    return path != NULL ? path : on_path(tried);
}
