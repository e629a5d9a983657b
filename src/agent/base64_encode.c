/* base64_encode.c - see base64_encode.h */
#include "base64_encode.h"

#include <nettle/base64.h>

void base64_encode(const unsigned char *bytes, size_t length, char *to) {
    base64_encode_raw(to, length, bytes);
}
