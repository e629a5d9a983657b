/* header_parameters.c - see header_parameters.h */
#include "header_parameters.h"

#include <stdbool.h>
#include <string.h>
#include <strings.h>

/* What of a header is left. */
struct text {
    const char *at, *end;
};

static bool is_token(char c) {
    return c > ' ' && c < 0x7f && !strchr("()<>@,;:\\\"/[]?=", c);
}

static void skip_space(struct text *text) {
    while (text->at < text->end && (*text->at == ' ' || *text->at == '\t'))
        text->at++;
}

static size_t token_length(const struct text *text) {
    size_t length = 0;
    while (text->at + length < text->end && is_token(text->at[length]))
        length++;
    return length;
}

/* Copies a value (to NULL: passes over it), quoted or not; false when it is malformed or longer
 * than the room. A backslash escapes only what could not stand there without: browsers send paths
 * with backslashes. */
static bool read_value(struct text *text, char *to, size_t size, size_t *length) {
    *length = 0;
    bool quoted = text->at < text->end && *text->at == '"';
    text->at += quoted;
    while (text->at < text->end && (quoted ? *text->at != '"' : is_token(*text->at))) {
        if (quoted && *text->at == '\\' && text->at + 1 < text->end &&
            (text->at[1] == '"' || text->at[1] == '\\'))
            text->at++;
        if (to && *length + 1 >= size)
            return false;
        if (to)
            to[*length] = *text->at;
        ++*length;
        text->at++;
    }
    if (to)
        to[*length] = '\0';
    if (!quoted)
        return *length > 0;
    return text->at < text->end && *text->at++ == '"';
}

static int hex_digit(char c) {
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Decodes charset'language'percent-encoded in place. */
static bool decode_extended(char *text, size_t *length) {
    static const char charset[] = "utf-8'";
    if (strncasecmp(text, charset, sizeof charset - 1) != 0)
        return false;
    const char *from = strchr(text + sizeof charset - 1, '\'');
    char *to = text;
    if (!from)
        return false;
    for (from++; *from; from++) {
        int high = *from == '%' ? hex_digit(from[1]) : -1;
        int low = high >= 0 ? hex_digit(from[2]) : -1;
        if (*from == '%' && low < 0)
            return false;
        *to++ = low < 0 ? *from : (char)(high * 16 + low);
        if (low >= 0)
            from += 2;
    }
    *to = '\0';
    *length = (size_t)(to - text);
    return true;
}

header_parameter_result header_parameter(const char *header, size_t header_length, const char *name,
                                         char *to, size_t size, size_t *length) {
    struct text text = {header, header + header_length};
    size_t name_length = strlen(name), skipped;
    header_parameter_result found = HEADER_PARAMETER_ABSENT;
    while (text.at < text.end && *text.at != ';') /* the value itself */
        text.at++;
    for (;;) {
        skip_space(&text);
        if (text.at == text.end)
            return found;
        if (*text.at++ != ';')
            return HEADER_PARAMETER_BAD;
        skip_space(&text);
        if (text.at == text.end || *text.at == ';')
            continue; /* an empty one */
        size_t own = token_length(&text);
        bool same = own >= name_length && strncasecmp(text.at, name, name_length) == 0;
        bool plain = same && own == name_length;
        bool extended = same && own == name_length + 1 && text.at[name_length] == '*';
        text.at += own;
        skip_space(&text);
        if (own == 0 || text.at == text.end || *text.at++ != '=')
            return HEADER_PARAMETER_BAD;
        skip_space(&text);
        bool wanted = extended || (plain && found == HEADER_PARAMETER_ABSENT);
        if (!read_value(&text, wanted ? to : NULL, size, wanted ? length : &skipped))
            return HEADER_PARAMETER_BAD;
        if (extended && !decode_extended(to, length))
            return HEADER_PARAMETER_BAD;
        if (extended) /* nothing comes before it */
            return HEADER_PARAMETER_FOUND;
        if (plain)
            found = HEADER_PARAMETER_FOUND;
    }
}
