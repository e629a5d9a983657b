#include "dropped.h"

static uint64_t count_of(const json_t *object, const char *name) {
    json_int_t count = json_integer_value(json_object_get(object, name));
    return count > 0 ? (uint64_t)count : 0;
}

bool sbi_dropped_take(const json_t *event, uint64_t *bytes, bool *out, bool *err) {
    const json_t *dropped = json_object_get(event, "dropped");
    if (!json_is_object(dropped)) {
        return false;
    }
    uint64_t of_out = count_of(dropped, "stdout"), of_err = count_of(dropped, "stderr");
    *out |= of_out > 0;
    *err |= of_err > 0;
    *bytes += of_out + of_err + count_of(dropped, "results");
    return true;
}
