#include "random_text.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>

int random_text(char *out, size_t length, const char *alphabet) {
    size_t letters = strlen(alphabet);
    size_t fair = 256 - 256 % letters; /* bytes from here up would make some letters likelier */
    unsigned char bytes[64];
    size_t used = 0;
    while (used < length) {
        ssize_t got = getrandom(bytes, sizeof bytes, 0);
        if (got < 0 && errno != EINTR)
            return -1;
        for (ssize_t i = 0; i < got && used < length; i++)
            if (bytes[i] < fair)
                out[used++] = alphabet[bytes[i] % letters];
    }
    out[length] = '\0';
    return 0;
}

int random_sandbox_id(char *out) {
    out[0] = 'i';
    return random_text(out + 1, SANDBOX_ID_LENGTH - 1, "abcdefghijklmnopqrstuvwxyz0123456789");
}

int random_access_token(char *out) {
    return random_text(out, ACCESS_TOKEN_LENGTH, "0123456789abcdef");
}
