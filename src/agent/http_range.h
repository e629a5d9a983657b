/*
 * http_range.h - which part of a file a Range header asks for.
 */
#ifndef STEPBOX_HTTP_RANGE_H
#define STEPBOX_HTTP_RANGE_H

#include <stdint.h>

typedef enum http_range {
    HTTP_RANGE_WHOLE, /* no header, or one that is to be ignored: malformed, another unit, a list */
    HTTP_RANGE_PART,
    HTTP_RANGE_BEYOND /* nothing of the file is in it */
} http_range;

/* header: or NULL. size: of the file. Sets the part. */
http_range http_range_parse(const char *header, uint64_t size, uint64_t *offset, uint64_t *length);

#endif
