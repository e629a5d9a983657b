#include "api_error.h"

#include <stdarg.h>
#include <stdio.h>

/* A JSON string of any bytes: foreign text may have been cut in the middle of a character, or be
 * none. */
static json_t *text_of(char *message) {
    json_t *text = json_string(message);
    if (text)
        return text;
    for (char *c = message; *c; c++)
        if ((unsigned char)*c >= 0x80)
            *c = '?';
    return json_string(message);
}

void api_error(http_request *request, int status, const char *format, ...) {
    char message[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    http_reply_json(request, status,
                    json_pack("{s:i, s:o}", "code", status, "message", text_of(message)));
}
