#include "payload.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_FILES 256
#define MAX_FILE_SIZE (64l * 1024 * 1024)

/* The sandbox's own /etc; nothing of the host's users or hosts is in it. */
static const struct {
    const char *path;
    const char *text;
} own_etc[] = {
    {"/etc/passwd", "root:x:0:0:root:/root:/usr/sbin/nologin\n"
                    "user:x:1000:1000:user:/home/user:/bin/bash\n"
                    "nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n"},
    {"/etc/group", "root:x:0:\nuser:x:1000:\nnogroup:x:65534:\n"},
    {"/etc/hosts", "127.0.0.1 localhost\n::1 localhost\n127.0.1.1 stepbox\n"},
    {"/etc/hostname", "stepbox\n"},
    {"/etc/nsswitch.conf",
     "passwd: files\ngroup: files\nhosts: files\nservices: files\nprotocols: files\n"},
};

/* Adds an empty file; returns the descriptor to fill it, or -1 with errno. */
static int add(struct payload *payload, const char *path, int mode) {
    if (payload->count == MAX_FILES) {
        errno = EMFILE;
        return -1;
    }
    payload_file *files = realloc(payload->files, (payload->count + 1) * sizeof *files);
    if (!files)
        return -1;
    payload->files = files;
    char *copy = strdup(path);
    int fd = copy ? memfd_create("stepbox-payload", MFD_CLOEXEC) : -1;
    if (fd < 0) {
        free(copy);
        return -1;
    }
    files[payload->count++] = (payload_file){copy, mode, fd};
    return fd;
}

static int add_text(struct payload *payload, const char *path, const char *text) {
    int fd = add(payload, path, 0644);
    size_t length = strlen(text);
    return fd >= 0 && write(fd, text, length) == (ssize_t)length ? 0 : -1;
}

static int add_copy(struct payload *payload, const char *path, int mode, int directory_fd,
                    const char *source) {
    int from = openat(directory_fd, source, O_RDONLY | O_CLOEXEC);
    struct stat st;
    int result = -1;
    if (from >= 0 && fstat(from, &st) == 0) {
        if (!S_ISREG(st.st_mode) || st.st_size > MAX_FILE_SIZE)
            errno = S_ISREG(st.st_mode) ? EFBIG : EINVAL;
        else {
            int to = add(payload, path, mode);
            off_t left = st.st_size;
            ssize_t sent = 1;
            while (to >= 0 && left > 0 && (sent = sendfile(to, from, NULL, (size_t)left)) > 0)
                left -= sent;
            if (to >= 0 && left > 0 && sent == 0)
                errno = EIO; /* it shrank while we read it */
            result = to >= 0 && left == 0 ? 0 : -1;
        }
    }
    int saved = errno;
    if (from >= 0)
        close(from);
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
        snprintf(path, sizeof path, "/opt/stepbox/runners/%s/%s", language, entry->d_name);
        result = add_copy(payload, path, 0644, fd, entry->d_name);
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
    for (size_t i = 0; i < sizeof own_etc / sizeof *own_etc; i++) {
        if (add_text(payload, own_etc[i].path, own_etc[i].text) < 0) {
            snprintf(message, room, "cannot keep files in memory: %s", strerror(errno));
            return -1;
        }
    }
    if (add_copy(payload, PAYLOAD_AGENT, 0755, AT_FDCWD, agent) < 0) {
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
        free(payload->files[i].path);
        close(payload->files[i].memory_fd);
    }
    free(payload->files);
    *payload = (struct payload){0};
}

int payload_open(const payload_file *file) {
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", file->memory_fd);
    return open(path, O_RDONLY | O_CLOEXEC);
}
