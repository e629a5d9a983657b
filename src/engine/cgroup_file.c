#include "cgroup_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "text_file.h"

#define SPACE " \t\n"

static int open_file(int directory, const char *group, const char *file, int flags) {
    char path[256];
    if (snprintf(path, sizeof path, "%s/%s", group, file) >= (int)sizeof path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    return openat(directory, path, flags | O_CLOEXEC | O_NOFOLLOW);
}

int cgroup_file_write(int directory, const char *group, const char *file, const char *text) {
    return text_file_write_to(open_file(directory, group, file, O_WRONLY), text);
}

int cgroup_file_write_number(int directory, const char *group, const char *file, int64_t number) {
    char text[32];
    snprintf(text, sizeof text, "%lld", (long long)number);
    return cgroup_file_write(directory, group, file, text);
}

int cgroup_file_read(int directory, const char *group, const char *file,
                     char text[CGROUP_FILE_MAX]) {
    int fd = open_file(directory, group, file, O_RDONLY);
    if (fd < 0)
        return -1;
    size_t used = 0;
    ssize_t got;
    while ((got = read(fd, text + used, CGROUP_FILE_MAX - 1 - used)) > 0)
        used += (size_t)got;
    int saved = errno;
    close(fd);
    errno = saved;
    text[used] = '\0';
    return got < 0 ? -1 : 0;
}

static bool read_number(const char *text, int64_t *number) {
    char *end;
    if (strncmp(text, "max", 3) == 0) {
        *number = CGROUP_NO_LIMIT;
        return true;
    }
    errno = 0;
    long long value = strtoll(text, &end, 10);
    if (end == text || errno || (*end && !strchr(SPACE, *end)))
        return false;
    *number = value;
    return true;
}

int cgroup_file_read_number(int directory, const char *group, const char *file, int64_t *number) {
    char text[CGROUP_FILE_MAX];
    if (cgroup_file_read(directory, group, file, text) < 0)
        return -1;
    if (read_number(text, number))
        return 0;
    errno = EPROTO;
    return -1;
}

bool cgroup_text_number(const char *text, const char *name, int64_t *number) {
    size_t length = strlen(name);
    while (*text) {
        if (strncmp(text, name, length) == 0 && text[length] == ' ')
            return read_number(text + length + 1, number);
        text += strcspn(text, "\n");
        text += *text == '\n';
    }
    return false;
}

bool cgroup_text_has(const char *text, const char *word) {
    size_t wanted = strlen(word);
    while (*text) {
        text += strspn(text, SPACE);
        size_t length = strcspn(text, SPACE);
        if (length == wanted && strncmp(text, word, wanted) == 0)
            return true;
        text += length;
    }
    return false;
}
