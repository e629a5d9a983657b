#include "create_key.h"

#include "error.h"

#include <stdio.h>
#include <string.h>
#include <sys/random.h>

static int make_key(char key[SBI_CREATE_KEY_SIZE], sb_error *err) {
    unsigned char bytes[16];
    if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes) {
        return sbi_fail(err, SB_SYSTEM, "no random bytes for a key");
    }
    int length = snprintf(key, SBI_CREATE_KEY_SIZE, "stepbox-");
    for (size_t i = 0; i < sizeof bytes; i++) {
        length += snprintf(key + length, SBI_CREATE_KEY_SIZE - (size_t)length, "%02x", bytes[i]);
    }
    return 0;
}

int sbi_create_key(char key[SBI_CREATE_KEY_SIZE], const char *given, bool is_local, sb_error *err) {
    key[0] = '\0';
    if (given == NULL) {
        return is_local ? make_key(key, err) : 0;
    }
    size_t length = strlen(given);
    for (size_t i = 0; i < length; i++) {
        if (given[i] <= ' ' || given[i] > '~') {
            return sbi_fail(err, SB_INVALID, "idempotency_key: must be of visible ASCII");
        }
    }
    if (length == 0 || length >= SBI_CREATE_KEY_SIZE) {
        return sbi_fail(err, SB_INVALID, "idempotency_key: must have 1 to %d characters",
                        SBI_CREATE_KEY_SIZE - 1);
    }
    memcpy(key, given, length + 1);
    return 0;
}
