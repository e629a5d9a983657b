#include "text.h"

#include <string.h>

static bool is_continuation(unsigned char byte) {
    return (byte & 0xC0) == 0x80;
}

size_t sbi_utf8_sequence(const char *text, size_t left) {
    const unsigned char *s = (const unsigned char *)text;
    if (left == 0) {
        return 0;
    }
    if (s[0] < 0x80) {
        return 1;
    }
    if (s[0] >= 0xC2 && s[0] <= 0xDF) {
        return left >= 2 && is_continuation(s[1]) ? 2 : 0;
    }
    if ((s[0] & 0xF0) == 0xE0) {
        if (left < 3 || !is_continuation(s[1]) || !is_continuation(s[2])) {
            return 0;
        }
        bool overlong = s[0] == 0xE0 && s[1] < 0xA0;
        bool surrogate = s[0] == 0xED && s[1] >= 0xA0;
        return overlong || surrogate ? 0 : 3;
    }
    if (s[0] >= 0xF0 && s[0] <= 0xF4) {
        if (left < 4 || !is_continuation(s[1]) || !is_continuation(s[2]) ||
            !is_continuation(s[3])) {
            return 0;
        }
        bool overlong = s[0] == 0xF0 && s[1] < 0x90;
        bool beyond = s[0] == 0xF4 && s[1] >= 0x90;
        return overlong || beyond ? 0 : 4;
    }
    return 0;
}

size_t sbi_utf8_floor(const char *text, size_t limit) {
    size_t start = limit;
    for (int back = 0; back < 3 && start > 0; back++) {
        if (!is_continuation((unsigned char)text[start - 1])) {
            break;
        }
        start--;
    }
    if (start == 0 || (unsigned char)text[start - 1] < 0xC0) {
        return limit;
    }
    return sbi_utf8_sequence(text + start - 1, limit - (start - 1)) > 0 ? limit : start - 1;
}

void sbi_text_clean(char *text) {
    size_t length = strlen(text);
    length = sbi_utf8_floor(text, length);
    text[length] = '\0';
    for (size_t i = 0; i < length;) {
        size_t sequence = sbi_utf8_sequence(text + i, length - i);
        if (sequence == 0) {
            text[i++] = '?';
        } else if (sequence == 1 && ((unsigned char)text[i] < 0x20 || text[i] == 0x7F)) {
            text[i++] = ' ';
        } else {
            i += sequence;
        }
    }
}

const char *sbi_text_excerpt(char *out, size_t size, const char *bytes, size_t length) {
    size_t kept = length < size - 1 ? length : size - 1;
    for (size_t i = 0; i < kept; i++) {
        out[i] = bytes[i] == '\0' ? '?' : bytes[i];
    }
    out[kept] = '\0';
    sbi_text_clean(out);
    return out;
}

static bool is_alphanumeric(char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

sb_code sbi_percent_encode(struct sbi_buffer *out, const char *text, size_t length) {
    static const char digits[] = "0123456789ABCDEF";
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)text[i];
        char coded[3] = {'%', digits[c >> 4], digits[c & 15]};
        bool plain = is_alphanumeric((char)c) || (c != '\0' && strchr("-._~", c) != NULL);
        sb_code code = sbi_buffer_append(out, plain ? text + i : coded, plain ? 1 : 3);
        if (code != SB_OK) {
            return code;
        }
    }
    return SB_OK;
}

static bool consists_of(const char *text, const char *others, size_t longest) {
    size_t length = 0;
    for (; text[length] != '\0'; length++) {
        if (length == longest ||
            (!is_alphanumeric(text[length]) && strchr(others, text[length]) == NULL)) {
            return false;
        }
    }
    return length > 0;
}

bool sbi_is_sandbox_id(const char *id) {
    return consists_of(id, "_-", 128);
}

bool sbi_is_domain(const char *domain) {
    return consists_of(domain, ".:-", 255);
}

bool sbi_is_header_name(const char *name) {
    return consists_of(name, "!#$%&'*+-.^_`|~", 128);
}

bool sbi_is_header_value(const char *value) {
    for (; *value != '\0'; value++) {
        unsigned char c = (unsigned char)*value;
        if ((c < 0x20 && c != '\t') || c == 0x7F) {
            return false;
        }
    }
    return true;
}
