/* The fast reader of a command's output agrees with jansson wherever it takes a message whose text
 * is base64. */
#include "process_event.h"

#include "base64.h"

#include "../fuzz.h"

#include <jansson.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    static const char *const names[] = {NULL, "stdout", "stderr", "pty"};
    char *json = fuzz_copy(bytes, length);
    struct sbi_process_data data;
    if (sbi_process_data_read(json, length, &data)) {
        char *text = fuzz_copy(data.text, data.length);
        unsigned char *decoded = fuzz_allocate(sbi_base64_room(data.length));
        ssize_t count = sbi_base64_decode(text, data.length, decoded);
        FUZZ_CHECK(count < 0 || (size_t)count <= sbi_base64_room(data.length));
        bool has_space = false;
        for (size_t i = 0; i < data.length; i++)
            has_space |= (unsigned char)text[i] <= ' ';
        if (count >= 0 && !has_space) {
            json_t *root = json_loadb(json, length, 0, NULL);
            const json_t *event = json_object_get(json_object_get(root, "event"), "data");
            const json_t *value = json_object_get(event, names[data.stream]);
            FUZZ_CHECK(json_is_string(value) && json_string_length(value) == data.length);
            FUZZ_CHECK(memcmp(json_string_value(value), data.text, data.length) == 0);
            json_decref(root);
        }
        free(text);
        free(decoded);
    }
    free(json);
    return 0;
}
