#include "hello.h"

#include <stdbool.h>
#include <string.h>
#include <strings.h>

/* What is left to read; a read that goes too far makes it bad and gives zeros. */
struct reader {
    const uint8_t *at;
    size_t left;
    bool bad;
};

static const uint8_t *take(struct reader *reader, size_t length) {
    if (reader->bad || length > reader->left) {
        reader->bad = true;
        return NULL;
    }
    const uint8_t *at = reader->at;
    reader->at += length;
    reader->left -= length;
    return at;
}

/* A number of so many bytes, most significant first. */
static size_t take_number(struct reader *reader, size_t bytes) {
    const uint8_t *at = take(reader, bytes);
    size_t value = 0;
    for (size_t i = 0; at && i < bytes; i++)
        value = value << 8 | at[i];
    return value;
}

/* A vector with its length, of so many bytes, before it. */
static struct reader take_vector(struct reader *reader, size_t length_bytes) {
    size_t length = take_number(reader, length_bytes);
    const uint8_t *at = take(reader, length);
    return (struct reader){at, at ? length : 0, !at};
}

static bool keep_name(const uint8_t *bytes, size_t length, char name[HELLO_NAME_MAX]) {
    if (length > 0 && bytes[length - 1] == '.')
        length--;
    if (length == 0 || length >= HELLO_NAME_MAX)
        return false;
    bool letters = false;
    for (size_t i = 0; i < length; i++) {
        char c = (char)bytes[i];
        if (c >= 'A' && c <= 'Z')
            c = (char)(c - 'A' + 'a');
        bool letter = (c >= 'a' && c <= 'z') || c == '-' || c == '_';
        if (!letter && !(c >= '0' && c <= '9') && c != '.')
            return false;
        letters |= letter;
        name[i] = c;
    }
    name[length] = '\0';
    /* Digits and dots alone are an address, or would be taken for one. */
    return letters && name[0] != '.' && !strstr(name, "..");
}

/* The extensions of a ClientHello: server_name is 0, and its list has one host_name, 0. */
static hello_result find_server_name(struct reader extensions, char name[HELLO_NAME_MAX]) {
    bool found = false;
    while (!extensions.bad && extensions.left > 0) {
        size_t type = take_number(&extensions, 2);
        struct reader body = take_vector(&extensions, 2);
        if (type != 0)
            continue;
        struct reader list = take_vector(&body, 2);
        size_t kind = take_number(&list, 1);
        struct reader host = take_vector(&list, 2);
        /* Of two, a server could take the other. */
        if (found || kind != 0 || host.bad || list.left > 0 || body.left > 0 ||
            !keep_name(host.at, host.left, name))
            return HELLO_BAD;
        found = true;
    }
    return found && !extensions.bad ? HELLO_DONE : HELLO_BAD;
}

static hello_result read_client_hello(struct reader hello, char name[HELLO_NAME_MAX]) {
    take(&hello, 2 + 32); /* version, random */
    take_vector(&hello, 1);
    take_vector(&hello, 2);
    take_vector(&hello, 1);
    struct reader extensions = take_vector(&hello, 2);
    return hello.bad ? HELLO_BAD : find_server_name(extensions, name);
}

hello_result hello_tls(const uint8_t *bytes, size_t length, char name[HELLO_NAME_MAX]) {
    /* The hello may be spread over several records: put it together. */
    uint8_t hello[HELLO_MAX];
    size_t used = 0, at = 0;
    while (length - at >= 5) {
        size_t record = (size_t)bytes[at + 3] << 8 | bytes[at + 4];
        if (bytes[at] != 22 || bytes[at + 1] != 3 || record == 0 || record > HELLO_MAX)
            return HELLO_BAD;
        size_t here = length - at - 5 < record ? length - at - 5 : record;
        if (here > sizeof hello - used)
            return HELLO_BAD;
        memcpy(hello + used, bytes + at + 5, here);
        used += here;
        at += 5 + here;
        if (used > 0 && hello[0] != 1)
            return HELLO_BAD;
        if (used >= 4) {
            size_t body = (size_t)hello[1] << 16 | (size_t)hello[2] << 8 | hello[3];
            if (body > sizeof hello - 4)
                return HELLO_BAD;
            if (used - 4 >= body)
                return read_client_hello((struct reader){hello + 4, body, false}, name);
        }
        if (here < record)
            break;
    }
    return length < HELLO_MAX ? HELLO_MORE : HELLO_BAD;
}

/* The host of a Host header's value: without blanks and port. */
static bool keep_host(const uint8_t *at, size_t length, char name[HELLO_NAME_MAX]) {
    while (length > 0 && (at[0] == ' ' || at[0] == '\t'))
        at++, length--;
    while (length > 0 && (at[length - 1] == ' ' || at[length - 1] == '\t'))
        length--;
    const uint8_t *colon = memchr(at, ':', length);
    if (colon) {
        for (const uint8_t *c = colon + 1; c < at + length; c++)
            if (*c < '0' || *c > '9')
                return false;
        length = (size_t)(colon - at);
    }
    return keep_name(at, length, name);
}

/* A request whose target is a whole URL would mean another host than its Host header; proxies are
 * not served here. */
static bool has_origin_target(const uint8_t *line, size_t length) {
    const uint8_t *space = memchr(line, ' ', length);
    return space && (size_t)(space - line) + 1 < length && (space[1] == '/' || space[1] == '*');
}

/* Whether all servers see the same in it: some end a line at a CR alone, or take what stands before
 * blanks and the colon for the header's name. */
static bool is_plain(const uint8_t *line, size_t length) {
    for (size_t i = 0; i < length; i++)
        if ((line[i] < ' ' && line[i] != '\t') || line[i] == 0x7f)
            return false;
    const uint8_t *colon = memchr(line, ':', length);
    return !colon || colon == line || (colon[-1] != ' ' && colon[-1] != '\t');
}

hello_result hello_http(const uint8_t *bytes, size_t length, char name[HELLO_NAME_MAX]) {
    bool found = false;
    size_t at = 0;
    for (bool first = true;; first = false) {
        const uint8_t *newline = memchr(bytes + at, '\n', length - at);
        if (!newline)
            return length < HELLO_MAX ? HELLO_MORE : HELLO_BAD;
        size_t line = (size_t)(newline - (bytes + at));
        if (line == 0 || newline[-1] != '\r')
            return HELLO_BAD;
        line--;
        if (!is_plain(bytes + at, line))
            return HELLO_BAD;
        if (first && !has_origin_target(bytes + at, line))
            return HELLO_BAD;
        if (line == 0)
            return found ? HELLO_DONE : HELLO_BAD;
        if (!first && (bytes[at] == ' ' || bytes[at] == '\t'))
            return HELLO_BAD; /* a folded line could hide what a server takes for the host */
        if (!first && line >= 5 && strncasecmp((const char *)bytes + at, "host:", 5) == 0) {
            if (found || !keep_host(bytes + at + 5, line - 5, name))
                return HELLO_BAD;
            found = true;
        }
        at += line + 2;
    }
}
