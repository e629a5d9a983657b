#include "program_path.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool find_in(const char *directories, const char *name, char path[PATH_MAX]) {
    while (*directories) {
        size_t length = strcspn(directories, ":");
        /* Only absolute ones: our own directory means nothing to whoever set PATH. */
        if (directories[0] == '/' &&
            snprintf(path, PATH_MAX, "%.*s/%s", (int)length, directories, name) < PATH_MAX &&
            access(path, X_OK) == 0)
            return true;
        directories += length + (directories[length] == ':');
    }
    return false;
}

bool program_path_find(const char *name, char path[PATH_MAX]) {
    const char *given = getenv("PATH");
    return (given && find_in(given, name, path)) ||
           find_in("/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", name, path);
}
