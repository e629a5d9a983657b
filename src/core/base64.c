#include "base64.h"

#include <nettle/base64.h>
#include <stdbool.h>
#include <stdint.h>

size_t sbi_base64_length(size_t length) {
    return (length + 2) / 3 * 4;
}

size_t sbi_base64_encode(const void *bytes, size_t length, char *out) {
    size_t written = sbi_base64_length(length);
    base64_encode_raw(out, length, bytes);
    out[written] = '\0';
    return written;
}

size_t sbi_base64_room(size_t length) {
    return length / 4 * 3 + 3;
}

/* Each character's six bits with VALID set, so that a whole group is checked at once; 0: none. */
#define VALID 0x80u
#define V(n) (uint8_t)(VALID | (n))
static const uint8_t values[256] = {
    ['A'] = V(0),  ['B'] = V(1),  ['C'] = V(2),  ['D'] = V(3),  ['E'] = V(4),  ['F'] = V(5),
    ['G'] = V(6),  ['H'] = V(7),  ['I'] = V(8),  ['J'] = V(9),  ['K'] = V(10), ['L'] = V(11),
    ['M'] = V(12), ['N'] = V(13), ['O'] = V(14), ['P'] = V(15), ['Q'] = V(16), ['R'] = V(17),
    ['S'] = V(18), ['T'] = V(19), ['U'] = V(20), ['V'] = V(21), ['W'] = V(22), ['X'] = V(23),
    ['Y'] = V(24), ['Z'] = V(25), ['a'] = V(26), ['b'] = V(27), ['c'] = V(28), ['d'] = V(29),
    ['e'] = V(30), ['f'] = V(31), ['g'] = V(32), ['h'] = V(33), ['i'] = V(34), ['j'] = V(35),
    ['k'] = V(36), ['l'] = V(37), ['m'] = V(38), ['n'] = V(39), ['o'] = V(40), ['p'] = V(41),
    ['q'] = V(42), ['r'] = V(43), ['s'] = V(44), ['t'] = V(45), ['u'] = V(46), ['v'] = V(47),
    ['w'] = V(48), ['x'] = V(49), ['y'] = V(50), ['z'] = V(51), ['0'] = V(52), ['1'] = V(53),
    ['2'] = V(54), ['3'] = V(55), ['4'] = V(56), ['5'] = V(57), ['6'] = V(58), ['7'] = V(59),
    ['8'] = V(60), ['9'] = V(61), ['+'] = V(62), ['/'] = V(63)};

/* Decodes whole groups of four up to the first character that is something else; returns how many
 * characters that were. */
static size_t decode_groups(const char *text, size_t length, unsigned char *out) {
    const unsigned char *in = (const unsigned char *)text;
    size_t i = 0;
    for (; i + 4 <= length; i += 4, out += 3) {
        uint32_t a = values[in[i]], b = values[in[i + 1]], c = values[in[i + 2]];
        uint32_t d = values[in[i + 3]];
        if ((a & b & c & d & VALID) == 0) {
            break;
        }
        uint32_t bits = (a & 63) << 18 | (b & 63) << 12 | (c & 63) << 6 | (d & 63);
        out[0] = (unsigned char)(bits >> 16);
        out[1] = (unsigned char)(bits >> 8);
        out[2] = (unsigned char)bits;
    }
    return i;
}

static bool is_space(char c) {
    return c == '\n' || c == '\r' || c == ' ' || c == '\t';
}

ssize_t sbi_base64_decode(const char *text, size_t length, unsigned char *out) {
    size_t begin = decode_groups(text, length, out);
    size_t written = begin / 4 * 3;
    uint32_t bits = 0;
    unsigned characters = 0, padding = 0; /* of the group of four under way */
    for (size_t i = begin; i < length; i++) {
        if (is_space(text[i])) {
            continue;
        }
        if (text[i] == '=') {
            if (characters < 2 || characters + ++padding > 4) {
                return -1;
            }
            continue;
        }
        uint8_t value = values[(unsigned char)text[i]];
        if (value == 0 || padding > 0) {
            return -1;
        }
        bits = bits << 6 | (value & 63u);
        if (++characters == 4) {
            out[written++] = (unsigned char)(bits >> 16);
            out[written++] = (unsigned char)(bits >> 8);
            out[written++] = (unsigned char)bits;
            bits = 0;
            characters = 0;
        }
    }
    if (padding > 0 && characters + padding != 4) {
        return -1;
    }
    switch (characters) {
    case 0:
        return (ssize_t)written;
    case 2:
        out[written++] = (unsigned char)(bits >> 4);
        return (ssize_t)written;
    case 3:
        out[written++] = (unsigned char)(bits >> 10);
        out[written++] = (unsigned char)(bits >> 2);
        return (ssize_t)written;
    default:
        return -1;
    }
}
