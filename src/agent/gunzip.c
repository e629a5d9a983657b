/* gunzip.c - see gunzip.h */
#include "gunzip.h"

#include <stdlib.h>
#include <zlib.h>

#define OUTPUT_SIZE (64 * 1024)
#define OUTPUT_AT_ONCE (512 * 1024) /* bytes decoded before others get their turn */
#define GZIP_WINDOW (15 + 16)       /* zlib's way of saying gzip */

struct gunzip {
    gunzip_output *output;
    void *user;
    z_stream stream;
    bool between; /* after a member, before the next */
    unsigned char bytes[OUTPUT_SIZE];
};

gunzip *gunzip_new(gunzip_output *output, void *user) {
    gunzip *decoder = calloc(1, sizeof *decoder);
    if (decoder && inflateInit2(&decoder->stream, GZIP_WINDOW) != Z_OK) {
        free(decoder);
        return NULL;
    }
    if (decoder) {
        decoder->output = output;
        decoder->user = user;
    }
    return decoder;
}

void gunzip_free(gunzip *decoder) {
    if (decoder)
        inflateEnd(&decoder->stream);
    free(decoder);
}

long gunzip_feed(gunzip *decoder, const char *bytes, size_t length, bool *bad) {
    z_stream *stream = &decoder->stream;
    size_t decoded = 0;
    *bad = false;
    stream->next_in = (unsigned char *)bytes;
    stream->avail_in = (unsigned)length;
    /* What zlib holds back after the last byte is little: it is always taken at once. */
    do {
        if (stream->avail_in && decoder->between) {
            inflateReset(stream);
            decoder->between = false;
        }
        stream->next_out = decoder->bytes;
        stream->avail_out = OUTPUT_SIZE;
        int result = decoder->between ? Z_BUF_ERROR : inflate(stream, Z_NO_FLUSH);
        size_t count = OUTPUT_SIZE - stream->avail_out;
        *bad = result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR;
        if (*bad || (count && decoder->output(decoder->user, (char *)decoder->bytes, count)))
            return -1;
        decoder->between |= result == Z_STREAM_END;
        decoded += count;
    } while ((stream->avail_in && decoded < OUTPUT_AT_ONCE) ||
             (!stream->avail_in && !stream->avail_out));
    return (long)(length - stream->avail_in);
}

bool gunzip_is_complete(const gunzip *decoder) {
    return decoder->between;
}
