/* The body of a request for a sandbox: an object that fits the table, or a message that can be
 * shown. */
#include "create_fields.h"

#include "../fuzz.h"

static bool is_known(const struct field_rule *rules, const char *name) {
    for (; rules->name; rules++) {
        if (strcmp(rules->name, name) == 0)
            return true;
    }
    return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    struct fuzz_input input = fuzz_input(bytes, length);
    unsigned how = fuzz_byte(&input);
    const struct field_rule *rules = create_fields(how & 1 ? 1 : 2);
    char *text = fuzz_copy(input.bytes, input.length), message[300] = "";
    json_t *body = fields_parse(text, input.length, rules, how & 2, message, sizeof message);
    FUZZ_CHECK((body == NULL) == (message[0] != '\0'));
    const char *name;
    json_t *value;
    json_object_foreach(body, name, value) FUZZ_CHECK(is_known(rules, name));
    if (body && input.length) {
        json_t *id = fields_get(body, "templateID");
        FUZZ_CHECK(json_string_length(id) > 0);
        json_int_t timeout = fields_integer(body, "timeout", 300);
        FUZZ_CHECK(timeout >= 1 && timeout <= MAX_TIMEOUT);
    }
    json_decref(body);
    free(text);
    return 0;
}
