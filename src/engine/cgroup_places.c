#include "cgroup_places.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Of a list of mounts: hosts with many containers have thousands. */
#define MOST_BYTES (4 * 1024 * 1024)
#define LINE_FIELDS 64

/* A piece of a line; not NUL-terminated. */
struct word {
    const char *at;
    size_t length;
};

static bool is(struct word word, const char *text) {
    return word.length == strlen(text) && memcmp(word.at, text, word.length) == 0;
}

static struct word cut(struct word *rest, char separator) {
    const char *end = memchr(rest->at, separator, rest->length);
    struct word word = {rest->at, end ? (size_t)(end - rest->at) : rest->length};
    size_t taken = word.length + (end ? 1 : 0);
    rest->at += taken;
    rest->length -= taken;
    return word;
}

static unsigned controller(struct word name) {
    static const struct {
        const char *name;
        unsigned flag;
    } known[] = {{"memory", CGROUP_MEMORY},
                 {"pids", CGROUP_PIDS},
                 {"cpu", CGROUP_CPU},
                 {"cpuacct", CGROUP_CPUACCT},
                 {"freezer", CGROUP_FREEZER}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (is(name, known[i].name))
            return known[i].flag;
    return 0;
}

static unsigned controllers(struct word list) {
    unsigned found = 0;
    while (list.length)
        found |= controller(cut(&list, ','));
    return found;
}

/* The path of our group in a hierarchy, from lines of "NUMBER:CONTROLLERS:PATH". */
static bool find_own(const char *own, bool unified, unsigned wanted, struct word *path) {
    struct word rest = {own, strlen(own)};
    while (rest.length) {
        struct word line = cut(&rest, '\n');
        struct word number = cut(&line, ':'), names = cut(&line, ':');
        if (unified ? is(number, "0") && names.length == 0 : controllers(names) & wanted) {
            *path = line;
            return line.length > 0 && line.at[0] == '/';
        }
    }
    return false;
}

/* Writes a word with its \040 and the like undone. False when it is too long. */
static bool unescape(struct word word, char out[PATH_MAX]) {
    size_t used = 0;
    for (size_t i = 0; i < word.length; i++) {
        char c = word.at[i];
        if (c == '\\' && i + 3 < word.length + 0 && word.at[i + 1] >= '0' &&
            word.at[i + 1] <= '3') {
            c = (char)((word.at[i + 1] - '0') * 64 + (word.at[i + 2] - '0') * 8 +
                       (word.at[i + 3] - '0'));
            i += 3;
        }
        if (used + 1 >= PATH_MAX)
            return false;
        out[used++] = c;
    }
    out[used] = '\0';
    return used > 0;
}

/* Where our group is in a mount that shows the hierarchy from `root` on. */
static bool make_path(struct cgroup_place *place, struct word root, struct word own) {
    char shown[PATH_MAX];
    if (!unescape(root, shown))
        return false;
    size_t skip = strcmp(shown, "/") == 0 ? 0 : strlen(shown);
    if (own.length < skip || memcmp(own.at, shown, skip) != 0 ||
        (own.length > skip && own.at[skip] != '/'))
        return false; /* a part that this mount does not show */
    struct word below = {own.at + skip, own.length - skip};
    if (is(below, "/"))
        below.length = 0;
    /* From within a namespace of control groups, ours may be above its root. */
    if (memmem(below.at, below.length, "/..", 3))
        return false;
    int length = snprintf(place->path, sizeof place->path, "%s%.*s", place->mount,
                          (int)below.length, below.at);
    return length < (int)sizeof place->path;
}

/* A line of mountinfo: ID PARENT DEVICE ROOT MOUNT OPTIONS [TAGS] - TYPE SOURCE SUPER-OPTIONS */
static bool read_mount(struct word line, const char *own, struct cgroup_place *place) {
    struct word fields[LINE_FIELDS];
    size_t count = 0, dash = 0;
    while (line.length && count < LINE_FIELDS) {
        fields[count] = cut(&line, ' ');
        if (count > 5 && !dash && is(fields[count], "-"))
            dash = count;
        count++;
    }
    if (!dash || count < dash + 4)
        return false;
    *place = (struct cgroup_place){.unified = is(fields[dash + 1], "cgroup2")};
    if (!place->unified) {
        if (!is(fields[dash + 1], "cgroup"))
            return false;
        place->controllers = controllers(fields[dash + 3]);
        if (!place->controllers)
            return false;
    }
    struct word path;
    return find_own(own, place->unified, place->controllers, &path) &&
           unescape(fields[4], place->mount) && make_path(place, fields[3], path);
}

static bool is_new(const struct cgroup_place *places, size_t count,
                   const struct cgroup_place *place) {
    for (size_t i = 0; i < count; i++)
        if (place->unified ? places[i].unified : places[i].controllers & place->controllers)
            return false;
    return true;
}

size_t cgroup_places_parse(const char *mountinfo, const char *own,
                           struct cgroup_place places[CGROUP_PLACES_MAX]) {
    struct word rest = {mountinfo, strlen(mountinfo)};
    size_t count = 0;
    while (rest.length && count < CGROUP_PLACES_MAX) {
        if (read_mount(cut(&rest, '\n'), own, &places[count]) &&
            is_new(places, count, &places[count]))
            count++;
    }
    return count;
}

static char *read_all(const char *path) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    char *text = NULL;
    size_t used = 0, room = 0;
    ssize_t got = fd < 0 ? -1 : 1;
    while (got > 0 && used < MOST_BYTES) {
        if (room - used < 2) {
            room = room ? room * 2 : 16 * 1024;
            char *larger = realloc(text, room);
            if (!larger)
                break;
            text = larger;
        }
        got = read(fd, text + used, room - used - 1);
        used += got > 0 ? (size_t)got : 0;
    }
    if (fd >= 0)
        close(fd);
    if (text)
        text[used] = '\0';
    return text;
}

size_t cgroup_places_find(struct cgroup_place places[CGROUP_PLACES_MAX]) {
    char *mountinfo = read_all("/proc/self/mountinfo"), *own = read_all("/proc/self/cgroup");
    size_t count = mountinfo && own ? cgroup_places_parse(mountinfo, own, places) : 0;
    free(mountinfo);
    free(own);
    return count;
}
