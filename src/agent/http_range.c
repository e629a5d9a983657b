/* http_range.c - see http_range.h */
#include "http_range.h"

#include <stdbool.h>
#include <string.h>
#include <strings.h>

/* Reads digits; what does not fit is as good as the largest number. False when there are none. */
static bool read_number(const char **at, uint64_t *number) {
    const char *from = *at;
    *number = 0;
    for (; **at >= '0' && **at <= '9'; ++*at) {
        unsigned digit = (unsigned)(**at - '0');
        *number = *number > (UINT64_MAX - digit) / 10 ? UINT64_MAX : *number * 10 + digit;
    }
    return *at > from;
}

static void skip_space(const char **at) {
    *at += strspn(*at, " \t");
}

http_range http_range_parse(const char *header, uint64_t size, uint64_t *offset, uint64_t *length) {
    static const char unit[] = "bytes=";
    uint64_t first, last;
    if (!header || strncasecmp(header, unit, sizeof unit - 1) != 0)
        return HTTP_RANGE_WHOLE;
    header += sizeof unit - 1;
    skip_space(&header);
    bool has_first = read_number(&header, &first);
    skip_space(&header);
    if (*header != '-')
        return HTTP_RANGE_WHOLE;
    header++;
    skip_space(&header);
    bool has_last = read_number(&header, &last);
    skip_space(&header);
    if (*header || (!has_first && !has_last) || (has_first && has_last && last < first))
        return HTTP_RANGE_WHOLE;
    if (!has_first) { /* so many bytes at the end */
        *length = last < size ? last : size;
        *offset = size - *length;
        return *length ? HTTP_RANGE_PART : HTTP_RANGE_BEYOND;
    }
    if (first >= size)
        return HTTP_RANGE_BEYOND;
    *offset = first;
    *length = (has_last && last < size ? last + 1 : size) - first;
    return HTTP_RANGE_PART;
}
