/* sandbox_cgroup.c - the limits of one sandbox, as they are in force. */
#include "sandbox_internal.h"

json_t *sandbox_limits_describe(const struct sandbox *sandbox) {
    json_t *described = limits_describe(&sandbox->record.limits);
    if (described)
        json_object_set_new(described, "by", json_string("rlimit"));
    return described;
}
