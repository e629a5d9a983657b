/* output_encoder.c - UTF-8 decoding that survives any split, and JSON escapes as json.dumps has
 * them. */
#include "output_encoder.h"

#include <string.h>

static size_t put_unit(char *to, unsigned unit) {
    static const char digits[] = "0123456789abcdef";
    to[0] = '\\';
    to[1] = 'u';
    for (int i = 0; i < 4; i++)
        to[2 + i] = digits[unit >> (12 - 4 * i) & 15];
    return 6;
}

static size_t put_code(char *to, uint32_t code) {
    if (code < 0x10000)
        return put_unit(to, code);
    code -= 0x10000;
    put_unit(to, 0xd800 + (code >> 10));
    put_unit(to + 6, 0xdc00 + (code & 0x3ff));
    return 12;
}

static size_t put_ascii(char *to, unsigned char c) {
    static const char names[] = "b\bf\fn\nr\rt\t\"\"\\\\";
    for (const char *name = names; *name; name += 2) {
        if ((unsigned char)name[1] == c) {
            to[0] = '\\';
            to[1] = *name;
            return 2;
        }
    }
    if (c < 0x20)
        return put_unit(to, c);
    *to = (char)c;
    return 1;
}

static bool is_plain(unsigned char c) {
    return c >= 0x20 && c < 0x80 && c != '"' && c != '\\';
}

/* The first byte of a character of several. False when no character begins so. */
static bool begin(output_encoder *encoder, unsigned char c) {
    encoder->low = 0x80;
    encoder->high = 0xbf;
    if (c >= 0xc2 && c <= 0xdf) {
        encoder->missing = 1;
        encoder->code = c & 0x1f;
    } else if ((c & 0xf0) == 0xe0) {
        encoder->missing = 2;
        encoder->code = c & 0x0f;
        if (c == 0xe0)
            encoder->low = 0xa0; /* shorter forms exist for less */
        if (c == 0xed)
            encoder->high = 0x9f; /* surrogates are not characters */
    } else if (c >= 0xf0 && c <= 0xf4) {
        encoder->missing = 3;
        encoder->code = c & 0x07;
        if (c == 0xf0)
            encoder->low = 0x90;
        if (c == 0xf4)
            encoder->high = 0x8f; /* nothing is above U+10FFFF */
    } else {
        return false;
    }
    return true;
}

static size_t put_byte(output_encoder *encoder, unsigned char c, char *to) {
    size_t written = 0;
    if (encoder->missing) {
        if (c >= encoder->low && c <= encoder->high) {
            encoder->code = encoder->code << 6 | (c & 0x3f);
            encoder->low = 0x80;
            encoder->high = 0xbf;
            return --encoder->missing ? 0 : put_code(to, encoder->code);
        }
        encoder->missing = 0;
        written = put_unit(to, 0xfffd);
    }
    if (c < 0x80)
        return written + put_ascii(to + written, c);
    if (!begin(encoder, c))
        written += put_unit(to + written, 0xfffd);
    return written;
}

size_t output_encode(output_encoder *encoder, const char *bytes, size_t length, char *to,
                     size_t room, size_t *written) {
    size_t taken = 0, used = 0;
    while (taken < length && room - used >= OUTPUT_ENCODER_MAX) {
        if (encoder->missing || !is_plain((unsigned char)bytes[taken])) {
            used += put_byte(encoder, (unsigned char)bytes[taken++], to + used);
            continue;
        }
        size_t most = length - taken < room - used ? length - taken : room - used, run = 1;
        while (run < most && is_plain((unsigned char)bytes[taken + run]))
            run++;
        memcpy(to + used, bytes + taken, run);
        taken += run;
        used += run;
    }
    *written += used;
    return taken;
}

size_t output_encode_end(output_encoder *encoder, char *to) {
    if (!encoder->missing)
        return 0;
    encoder->missing = 0;
    return put_unit(to, 0xfffd);
}
