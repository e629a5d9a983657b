#include "api_key.h"

#include <string.h>

bool api_key_is(const char *key, const char *given, size_t given_length) {
    size_t length = strlen(key);
    if (!given)
        return false;
    unsigned char differs = given_length != length;
    for (size_t i = 0; i < length && given_length; i++)
        differs |= (unsigned char)(given[differs ? 0 : i] ^ key[i]);
    return !differs && length > 0;
}

const char *api_key_complaint(const char *given) {
    return given ? "the key in X-API-Key is wrong" : "the X-API-Key header is missing";
}
