/* base64_encode.c - see base64_encode.h */
#include "base64_encode.h"

void base64_encode(const unsigned char *bytes, size_t length, char *to) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (; length >= 3; length -= 3, bytes += 3) {
        *to++ = digits[bytes[0] >> 2];
        *to++ = digits[(bytes[0] & 3) << 4 | bytes[1] >> 4];
        *to++ = digits[(bytes[1] & 15) << 2 | bytes[2] >> 6];
        *to++ = digits[bytes[2] & 63];
    }
    if (length) {
        unsigned second = length == 2 ? bytes[1] : 0;
        *to++ = digits[bytes[0] >> 2];
        *to++ = digits[(bytes[0] & 3) << 4 | second >> 4];
        *to++ = length == 2 ? digits[(second & 15) << 2] : '=';
        *to++ = '=';
    }
}
