/* multipart.c - see multipart.h */
#include "multipart.h"

#include "header_parameters.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/types.h>

#define BOUNDARY_MAX 200 /* bytes; the standard allows 70 */

struct multipart {
    multipart_events events;
    void *user;
    const char *fault;
    enum { PREAMBLE, DELIMITER_LINE, HEADERS, DATA, EPILOGUE } state;
    /* "\r\n--" and the boundary. It begins with the only \r in it: a match that fails can begin
     * anew only with the byte at which it failed. */
    char delimiter[BOUNDARY_MAX + 5];
    size_t delimiter_length;
    size_t matched; /* so much of the delimiter was the last that came */
    size_t implied; /* and so much of that was not: the line's end before a part is its headers' */
    bool at_end;    /* on the delimiter's line: "--" has come */
    char *line;     /* the line being read, or all of the headers */
    size_t length, line_start, capacity;
};

multipart *multipart_new(const char *content_type, const multipart_events *events, void *user,
                         const char **fault) {
    static const char type[] = "multipart/";
    char boundary[BOUNDARY_MAX + 1];
    size_t length;
    *fault = NULL;
    if (strncasecmp(content_type, type, sizeof type - 1) != 0)
        *fault = "the content is not multipart";
    else if (header_parameter(content_type, strlen(content_type), "boundary", boundary,
                              sizeof boundary, &length) != HEADER_PARAMETER_FOUND ||
             length == 0 || strlen(boundary) != length || strpbrk(boundary, "\r\n"))
        *fault = "the boundary of the multipart content is missing or malformed";
    multipart *parser = *fault ? NULL : calloc(1, sizeof *parser);
    if (!parser) {
        if (!*fault)
            *fault = "out of memory";
        return NULL;
    }
    parser->events = *events;
    parser->user = user;
    memcpy(parser->delimiter, "\r\n--", 4);
    memcpy(parser->delimiter + 4, boundary, length);
    parser->delimiter_length = length + 4;
    parser->matched = parser->implied = 2; /* the first line needs none before it */
    return parser;
}

void multipart_free(multipart *parser) {
    if (parser)
        free(parser->line);
    free(parser);
}

static int fail(multipart *parser, const char *fault) {
    parser->fault = fault;
    return -1;
}

static int pass(multipart *parser, const char *bytes, size_t length) {
    if (parser->state != DATA || length == 0)
        return 0;
    return parser->events.data(parser->user, bytes, length);
}

/* Searches for the delimiter; the bytes before it are the part's. Returns how many it took, all or
 * up to behind the delimiter; -1 when an event ended it. */
static ssize_t feed_content(multipart *parser, const char *bytes, size_t length) {
    size_t at = 0; /* the bytes before it are the part's or the delimiter's, and not passed yet */
    while (at < length) {
        if (parser->matched == 0) {
            const char *next = memchr(bytes + at, '\r', length - at);
            at = next ? (size_t)(next - bytes) : length;
            if (!next)
                break;
        }
        if (bytes[at] == parser->delimiter[parser->matched]) {
            at++;
            if (++parser->matched < parser->delimiter_length)
                continue;
            /* What of the delimiter came now was not passed; what came before was held. */
            size_t own = parser->matched - parser->implied, now = own < at ? own : at;
            if (pass(parser, bytes, at - now))
                return -1;
            parser->matched = parser->implied = 0;
            parser->length = 0;
            parser->at_end = false;
            if (parser->state == DATA && parser->events.end(parser->user))
                return -1;
            parser->state = DELIMITER_LINE;
            return (ssize_t)at;
        }
        /* No delimiter after all. What of it came with earlier bytes was held. */
        size_t own = parser->matched - parser->implied;
        if (own > at && pass(parser, parser->delimiter + parser->implied, own - at))
            return -1;
        parser->implied = 0;
        parser->matched = 0;
    }
    size_t own = parser->matched - parser->implied, held = own < length ? own : length;
    return pass(parser, bytes, length - held) ? -1 : (ssize_t)length;
}

static bool keep(multipart *parser, char byte) {
    if (parser->length + 1 >= parser->capacity) {
        size_t capacity = parser->capacity ? parser->capacity * 2 : 512;
        char *grown = realloc(parser->line, capacity);
        if (!grown)
            return false;
        parser->line = grown;
        parser->capacity = capacity;
    }
    parser->line[parser->length++] = byte;
    parser->line[parser->length] = '\0';
    return true;
}

/* All headers of a part have come, each line ended by a NUL. */
static int begin_part(multipart *parser) {
    static const char disposition[] = "Content-Disposition:";
    char name[256], *filename = NULL;
    size_t name_length = 0, filename_length = 0, size = parser->length + 1;
    header_parameter_result has_name = HEADER_PARAMETER_ABSENT, has_filename = has_name;
    for (size_t at = 0; at < parser->length; at += strlen(parser->line + at) + 1) {
        const char *line = parser->line + at, *value = line + sizeof disposition - 1;
        if (strncasecmp(line, disposition, sizeof disposition - 1) != 0)
            continue;
        filename = malloc(size);
        if (!filename)
            return fail(parser, "out of memory");
        has_name = header_parameter(value, strlen(value), "name", name, sizeof name, &name_length);
        has_filename =
            header_parameter(value, strlen(value), "filename", filename, size, &filename_length);
        break;
    }
    if (has_name == HEADER_PARAMETER_BAD || has_filename == HEADER_PARAMETER_BAD) {
        free(filename);
        return fail(parser, "a Content-Disposition header of the multipart content is malformed");
    }
    parser->state = DATA;
    parser->matched = parser->implied = 2; /* the end of the headers may be the delimiter's */
    parser->length = 0;
    int result = parser->events.begin(
        parser->user, has_name == HEADER_PARAMETER_FOUND ? name : NULL,
        has_filename == HEADER_PARAMETER_FOUND ? filename : NULL, filename_length);
    free(filename);
    return result;
}

/* Behind a delimiter: "--" at the last one, blanks, the line's end. */
static int feed_delimiter_line(multipart *parser, char byte) {
    if (byte == '\n') {
        if (parser->length)
            return fail(parser, "a boundary line of the multipart content is malformed");
        parser->state = HEADERS;
        parser->line_start = 0;
        return 0;
    }
    if (byte == ' ' || byte == '\t' || byte == '\r')
        return 0;
    if (byte != '-' || parser->length >= 2)
        return fail(parser, "a boundary line of the multipart content is malformed");
    if (!keep(parser, byte))
        return fail(parser, "out of memory");
    if (parser->length == 2)
        parser->state = EPILOGUE;
    return 0;
}

static int feed_headers(multipart *parser, char byte) {
    if (byte == '\0')
        return fail(parser, "the headers of a part of the multipart content contain NUL");
    if (parser->length >= MULTIPART_HEADERS_MAX)
        return fail(parser, "the headers of a part of the multipart content are too long");
    if (!keep(parser, byte == '\n' ? '\0' : byte))
        return fail(parser, "out of memory");
    if (byte != '\n')
        return 0;
    if (parser->length >= 2 && parser->line[parser->length - 2] == '\r' &&
        parser->length - 2 >= parser->line_start) {
        parser->line[parser->length - 2] = '\0';
        parser->length--;
    }
    if (parser->length - 1 == parser->line_start) { /* an empty line */
        parser->length = parser->line_start;
        return begin_part(parser);
    }
    parser->line_start = parser->length;
    return 0;
}

int multipart_feed(multipart *parser, const char *bytes, size_t length) {
    int failed = 0;
    while (length && !failed && parser->state != EPILOGUE) {
        ssize_t took = 1;
        if (parser->state == DELIMITER_LINE)
            failed = feed_delimiter_line(parser, *bytes);
        else if (parser->state == HEADERS)
            failed = feed_headers(parser, *bytes);
        else
            took = feed_content(parser, bytes, length);
        if (took < 0)
            return -1;
        bytes += took;
        length -= (size_t)took;
    }
    return failed ? -1 : 0;
}

int multipart_end(multipart *parser) {
    return parser->state == EPILOGUE ? 0
                                     : fail(parser, "the multipart content ends before its end");
}

const char *multipart_fault(const multipart *parser) {
    return parser->fault;
}
