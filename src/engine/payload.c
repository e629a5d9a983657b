#include "payload.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sandbox_etc.h"

#define MAX_ENTRIES 8192
#define MAX_BYTES ((size_t)128 * 1024 * 1024)
#define MAX_PROGRAM ((size_t)64 * 1024 * 1024)

/* An entry with room for that much data, or NULL with errno. */
static payload_entry *grow(struct payload *payload, const char *path, mode_t mode, size_t size) {
    if (payload->count == MAX_ENTRIES || size > MAX_BYTES - payload->bytes) {
        errno = EFBIG;
        return NULL;
    }
    if (payload->count == payload->room) {
        size_t room = payload->room ? payload->room * 2 : 64;
        payload_entry *entries = realloc(payload->entries, room * sizeof *entries);
        if (!entries)
            return NULL;
        payload->entries = entries;
        payload->room = room;
    }
    char *copy = strdup(path), *data = malloc(size + 1);
    if (!copy || !data) {
        free(copy);
        free(data);
        return NULL;
    }
    data[size] = '\0';
    payload_entry *entry = &payload->entries[payload->count++];
    *entry = (payload_entry){.path = copy, .mode = mode, .data = data, .size = size};
    payload->bytes += size;
    return entry;
}

int payload_add(struct payload *payload, const char *path, mode_t mode, const char *data,
                size_t size) {
    payload_entry *entry = grow(payload, path, mode, size);
    if (entry && size > 0)
        memcpy(entry->data, data, size);
    return entry ? 0 : -1;
}

/* Reads exactly that much. */
static int read_all(int fd, char *data, size_t size) {
    while (size > 0) {
        ssize_t got = read(fd, data, size);
        if (got < 0 && errno == EINTR)
            continue;
        if (got == 0)
            errno = EIO; /* it shrank while we read it */
        if (got <= 0)
            return -1;
        data += got;
        size -= (size_t)got;
    }
    return 0;
}

int payload_add_file(struct payload *payload, const char *path, mode_t mode, int directory_fd,
                     const char *source, size_t most) {
    int fd = openat(directory_fd, source, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat st;
    int result = -1;
    if (fd < 0)
        return -1;
    if (fstat(fd, &st) == 0) {
        if (!S_ISREG(st.st_mode) || (size_t)st.st_size > most) {
            errno = S_ISREG(st.st_mode) ? EFBIG : EINVAL;
        } else {
            payload_entry *entry = grow(payload, path, S_IFREG | mode, (size_t)st.st_size);
            result = entry ? read_all(fd, entry->data, entry->size) : -1;
        }
    }
    int saved = errno;
    close(fd);
    errno = saved;
    return result;
}

/* Adds the regular files of one directory of runners. */
static int add_language(struct payload *payload, int runners_fd, const char *language) {
    int fd = openat(runners_fd, language, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return errno == ENOTDIR ? 0 : -1;
    DIR *files = fdopendir(fd);
    if (!files) {
        close(fd);
        return -1;
    }
    int result = 0;
    struct dirent *entry;
    while (result == 0 && (entry = readdir(files))) {
        struct stat st;
        if (entry->d_name[0] == '.' || fstatat(fd, entry->d_name, &st, 0) < 0 ||
            !S_ISREG(st.st_mode))
            continue;
        char path[600];
        snprintf(path, sizeof path, PAYLOAD_DIRECTORY "/runners/%s/%s", language, entry->d_name);
        result = payload_add_file(payload, path, 0644, fd, entry->d_name, MAX_PROGRAM);
    }
    int saved = errno;
    closedir(files);
    errno = saved;
    return result;
}

static int add_runners(struct payload *payload, const char *runners) {
    DIR *languages = opendir(runners);
    if (!languages)
        return -1;
    int result = 0;
    struct dirent *entry;
    while (result == 0 && (entry = readdir(languages)))
        if (entry->d_name[0] != '.')
            result = add_language(payload, dirfd(languages), entry->d_name);
    int saved = errno;
    closedir(languages);
    errno = saved;
    return result;
}

int payload_load(struct payload *payload, const char *agent, const char *runners, char *message,
                 size_t room) {
    *payload = (struct payload){0};
    if (sandbox_etc_add(payload) < 0) {
        snprintf(message, room, "cannot keep the files of /etc in memory: %s", strerror(errno));
        return -1;
    }
    if (payload_add_file(payload, PAYLOAD_AGENT, 0755, AT_FDCWD, agent, MAX_PROGRAM) < 0) {
        snprintf(message, room, "cannot read the agent %s: %s", agent, strerror(errno));
        return -1;
    }
    if (add_runners(payload, runners) < 0) {
        snprintf(message, room, "cannot read the runners in %s: %s", runners, strerror(errno));
        return -1;
    }
    return 0;
}

void payload_free(struct payload *payload) {
    for (size_t i = 0; i < payload->count; i++) {
        free(payload->entries[i].path);
        free(payload->entries[i].data);
    }
    free(payload->entries);
    *payload = (struct payload){0};
}
