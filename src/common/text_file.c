#include "text_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

int text_file_write_to(int fd, const char *text) {
    if (fd < 0)
        return -1;
    ssize_t length = (ssize_t)strlen(text);
    int result = write(fd, text, (size_t)length) == length ? 0 : -1;
    int saved = errno;
    close(fd);
    errno = saved;
    return result;
}

int text_file_write(const char *path, const char *text) {
    return text_file_write_to(open(path, O_WRONLY | O_CLOEXEC), text);
}
