/* gzip_file.c - see gzip_file.h */
#include "gzip_file.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>
#include <zlib.h>

#define INPUT_SIZE (64 * 1024)
/* Bytes read before something must come out, so that others get their turn: what is very regular
 * packs a thousand to one. */
#define INPUT_AT_ONCE (512 * 1024)
#define GZIP_WINDOW (15 + 16) /* zlib's way of saying gzip */
#define MEMORY_LEVEL 8        /* zlib's default */

struct gzip_file {
    int fd;
    z_stream stream;
    bool at_end, done;
    unsigned char bytes[INPUT_SIZE];
};

gzip_file *gzip_file_new(int fd) {
    gzip_file *file = calloc(1, sizeof *file);
    /* The way is short: time is worth more than bytes. */
    if (!file || deflateInit2(&file->stream, Z_BEST_SPEED, Z_DEFLATED, GZIP_WINDOW, MEMORY_LEVEL,
                              Z_DEFAULT_STRATEGY) != Z_OK) {
        close(fd);
        free(file);
        return NULL;
    }
    file->fd = fd;
    return file;
}

void gzip_file_free(void *user) {
    gzip_file *file = user;
    deflateEnd(&file->stream);
    close(file->fd);
    free(file);
}

/* Reads more into the empty buffer. */
static int fill(gzip_file *file) {
    ssize_t got;
    do {
        got = read(file->fd, file->bytes, sizeof file->bytes);
    } while (got < 0 && errno == EINTR);
    if (got < 0)
        return -1;
    file->at_end = got == 0;
    file->stream.next_in = file->bytes;
    file->stream.avail_in = (unsigned)got;
    return 0;
}

ssize_t gzip_file_read(void *user, char *to, size_t max) {
    gzip_file *file = user;
    z_stream *stream = &file->stream;
    size_t taken = 0;
    stream->next_out = (unsigned char *)to;
    stream->avail_out = max > INPUT_AT_ONCE ? INPUT_AT_ONCE : (unsigned)max;
    max = stream->avail_out;
    while (!file->done && stream->avail_out &&
           (taken < INPUT_AT_ONCE || stream->avail_out == max)) {
        if (!stream->avail_in && !file->at_end) {
            if (fill(file))
                return -1;
            taken += stream->avail_in;
        }
        int flush = file->at_end ? Z_FINISH : taken >= INPUT_AT_ONCE ? Z_SYNC_FLUSH : Z_NO_FLUSH;
        int result = deflate(stream, flush);
        if (result == Z_STREAM_ERROR)
            return -1;
        file->done = result == Z_STREAM_END;
    }
    return (ssize_t)(max - stream->avail_out);
}
