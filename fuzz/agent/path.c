/* Paths that clients give: absolute afterwards, and a relative one stays in the home directory as
 * far as its text tells. */
#include "path.h"

#include "../fuzz.h"

#include <limits.h>

static const char home[] = "/home/user";

/* Whether the text has ".." as a component. */
static bool goes_up(const char *path) {
    for (const char *at = path; (at = strstr(at, "..")) != NULL; at += 2) {
        if ((at == path || at[-1] == '/') && (at[2] == '/' || at[2] == '\0'))
            return true;
    }
    return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    struct fuzz_input input = fuzz_input(bytes, length);
    struct agent agent = {.home = home};
    if (fuzz_byte(&input) & 1)
        agent.workdir = (char *)"work";
    char *text = fuzz_copy(input.bytes, input.length);
    const char *fault = NULL;
    char *path = path_resolve(&agent, text, input.length, &fault);
    FUZZ_CHECK((path == NULL) == (fault != NULL));
    if (path) {
        size_t name_length;
        FUZZ_CHECK(*path == '/' && strlen(path) < PATH_MAX);
        if (input.length == 0 || *text != '/') {
            FUZZ_CHECK(!goes_up(path) && !strstr(path, "//"));
            bool upward = memmem(text, input.length, "..", 2) != NULL;
            FUZZ_CHECK(upward || strncmp(path, home, sizeof home - 1) == 0);
        }
        const char *name = path_name(path, &name_length);
        FUZZ_CHECK(name >= path && name + name_length <= path + strlen(path) && name_length > 0);
        FUZZ_CHECK(!memchr(name, '/', name_length) || (name_length == 1 && *name == '/'));
    }
    free(path);
    free(text);
    return 0;
}
