/* json_scan.c - a scanner that builds nothing. Depth is bounded by JSON_DEPTH_MAX. */
#include "json_scan.h"

#include <string.h>

#define JSON_DEPTH_MAX 1000

struct scan {
    const char *text, *end, *at;
    const char *message; /* what is wrong, at `at` */
    bool strict;         /* ASCII, and nothing but JSON */
};

static bool fail(struct scan *scan, const char *at, const char *message) {
    scan->at = at;
    scan->message = message;
    return false;
}

static void skip_space(struct scan *scan) {
    while (scan->at < scan->end && strchr(" \t\n\r", *scan->at) && *scan->at)
        scan->at++;
}

static bool next_is(const struct scan *scan, char c) {
    return scan->at < scan->end && *scan->at == c;
}

static bool is_hex(char c) {
    return (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'f');
}

/* `at` is behind the opening quote. */
static bool scan_string(struct scan *scan) {
    const char *begin = scan->at - 1;
    for (; scan->at < scan->end && *scan->at != '"'; scan->at++) {
        if ((unsigned char)*scan->at < 0x20)
            return fail(scan, scan->at, "Invalid control character at");
        if (scan->strict && (unsigned char)*scan->at >= 0x80)
            return fail(scan, scan->at, "Not ASCII");
        if (*scan->at != '\\')
            continue;
        const char *escape = scan->at++;
        if (scan->at == scan->end)
            break;
        if (*scan->at != 'u') {
            if (!*scan->at || !strchr("\"\\/bfnrt", *scan->at))
                return fail(scan, escape, "Invalid \\escape");
            continue;
        }
        for (int i = 1; i <= 4; i++) {
            if (scan->end - scan->at <= i || !is_hex(scan->at[i]))
                return fail(scan, escape + 1, "Invalid \\uXXXX escape");
        }
        scan->at += 4;
    }
    if (scan->at >= scan->end)
        return fail(scan, begin, "Unterminated string starting at");
    scan->at++;
    return true;
}

static size_t digits(const struct scan *scan, const char *from) {
    size_t count = 0;
    while (from + count < scan->end && from[count] >= '0' && from[count] <= '9')
        count++;
    return count;
}

static bool scan_number(struct scan *scan) {
    const char *at = scan->at + (*scan->at == '-');
    size_t count = digits(scan, at);
    if (count == 0)
        return fail(scan, scan->at, "Expecting value");
    at += *at == '0' ? 1 : count;
    if (at < scan->end && *at == '.' && digits(scan, at + 1))
        at += 1 + digits(scan, at + 1);
    if (at < scan->end && (*at | 0x20) == 'e') {
        const char *power = at + 1;
        if (power < scan->end && (*power == '+' || *power == '-'))
            power++;
        if (digits(scan, power))
            at = power + digits(scan, power);
    }
    scan->at = at;
    return true;
}

static bool scan_word(struct scan *scan) {
    static const char *const words[] = {"true", "false", "null", "NaN", "Infinity", "-Infinity"};
    for (size_t i = 0; i < (scan->strict ? 3 : sizeof words / sizeof *words); i++) {
        size_t length = strlen(words[i]);
        if ((size_t)(scan->end - scan->at) >= length && memcmp(scan->at, words[i], length) == 0) {
            scan->at += length;
            return true;
        }
    }
    return false;
}

static bool scan_value(struct scan *scan, int depth);

/* A member of an object up to its value's end; `comma` is where the comma before it is, or NULL. */
static bool scan_member(struct scan *scan, int depth, const char *comma) {
    skip_space(scan);
    if (comma && next_is(scan, '}'))
        return fail(scan, comma, "Illegal trailing comma before end of object");
    if (!next_is(scan, '"'))
        return fail(scan, scan->at, "Expecting property name enclosed in double quotes");
    scan->at++;
    if (!scan_string(scan))
        return false;
    skip_space(scan);
    if (!next_is(scan, ':'))
        return fail(scan, scan->at, "Expecting ':' delimiter");
    scan->at++;
    skip_space(scan);
    return scan_value(scan, depth);
}

static bool scan_element(struct scan *scan, int depth, const char *comma) {
    skip_space(scan);
    if (comma && next_is(scan, ']'))
        return fail(scan, comma, "Illegal trailing comma before end of array");
    return scan_value(scan, depth);
}

/* `at` is behind the opening bracket. */
static bool scan_container(struct scan *scan, int depth, char close,
                           bool (*part)(struct scan *scan, int depth, const char *comma)) {
    const char *comma = NULL;
    skip_space(scan);
    if (next_is(scan, close)) {
        scan->at++;
        return true;
    }
    for (;;) {
        if (!part(scan, depth, comma))
            return false;
        skip_space(scan);
        if (next_is(scan, close)) {
            scan->at++;
            return true;
        }
        if (!next_is(scan, ','))
            return fail(scan, scan->at, "Expecting ',' delimiter");
        comma = scan->at++;
    }
}

static bool scan_value(struct scan *scan, int depth) {
    if (scan->at == scan->end)
        return fail(scan, scan->at, "Expecting value");
    if (depth > JSON_DEPTH_MAX)
        return fail(scan, scan->at, "Nesting too deep");
    switch (*scan->at) {
    case '"':
        scan->at++;
        return scan_string(scan);
    case '{':
        scan->at++;
        return scan_container(scan, depth + 1, '}', scan_member);
    case '[':
        scan->at++;
        return scan_container(scan, depth + 1, ']', scan_element);
    default:
        return scan_word(scan) || scan_number(scan);
    }
}

const char *json_fault(const char *text, size_t length, size_t *position) {
    struct scan scan = {.text = text, .end = text + length, .at = text};
    skip_space(&scan);
    if (scan_value(&scan, 0)) {
        skip_space(&scan);
        if (scan.at < scan.end)
            scan.message = "Extra data";
    }
    *position = 0;
    for (const char *c = text; c < scan.at; c++)
        *position += ((unsigned char)*c & 0xc0) != 0x80;
    return scan.message;
}

/* The member "type" of the object whose opening bracket is at `at`; the object is known to be
 * whole. */
static bool find_type(struct scan *scan, char *type, size_t size) {
    bool found = false;
    while (!next_is(scan, '}')) {
        scan->at++; /* the bracket, or a comma */
        skip_space(scan);
        if (next_is(scan, '}'))
            break;
        const char *name = scan->at++;
        scan_string(scan);
        bool is_type = scan->at - name == 6 && memcmp(name, "\"type\"", 6) == 0;
        skip_space(scan);
        scan->at++;
        skip_space(scan);
        const char *value = scan->at;
        scan_value(scan, 1);
        if (is_type) {
            size_t length = (size_t)(scan->at - value);
            if (*value != '"' || length - 2 >= size || memchr(value, '\\', length))
                return false;
            memcpy(type, value + 1, length - 2);
            type[length - 2] = '\0';
            found = true;
        }
        skip_space(scan);
    }
    return found;
}

bool json_object_type(const char *line, size_t length, char *type, size_t size) {
    struct scan scan = {.text = line, .end = line + length, .at = line, .strict = true};
    skip_space(&scan);
    const char *begin = scan.at;
    if (!next_is(&scan, '{') || !scan_value(&scan, 0))
        return false;
    skip_space(&scan);
    if (scan.at < scan.end)
        return false;
    scan.at = begin;
    return find_type(&scan, type, size);
}
