/* process_input_message.c - see process_input_message.h */
#include "process_input_message.h"

#include "base64_decode.h"

#include <stdlib.h>

bool process_input_read(const struct process *process, const json_t *input,
                        process_input_item *item, process_fault *fault) {
    const json_t *to_stdin = json_object_get(input, "stdin"),
                 *to_pty = json_object_get(input, "pty");
    if (json_is_null(to_stdin))
        to_stdin = NULL;
    if (json_is_null(to_pty))
        to_pty = NULL;
    const json_t *text = to_stdin ? to_stdin : to_pty;
    if (!to_stdin == !to_pty || !json_is_string(text))
        return process_fault_set(fault, "invalid_argument",
                                 "input must have bytes for stdin or for pty, as base64");
    size_t length = json_string_length(text);
    char *bytes = malloc(BASE64_DECODED_SIZE(length) + 1);
    if (!bytes)
        return process_fault_set(fault, "resource_exhausted", "out of memory");
    ssize_t decoded = base64_decode(json_string_value(text), length, (unsigned char *)bytes);
    if (decoded < 0)
        process_fault_set(fault, "invalid_argument", "input is not base64");
    if (decoded < 0 || !process_input_accepts(process, to_pty != NULL, (size_t)decoded, fault)) {
        free(bytes);
        return false;
    }
    item->bytes = bytes;
    item->length = (size_t)decoded;
    item->written = 0;
    return true;
}
