#include "caps.h"

#include <stdio.h>

bool caps_admit(const struct engine_config *config, const struct sandboxes *set,
                const struct limits *wanted, char *message, size_t room) {
    struct sandboxes_taken taken = sandboxes_taken(set);
    long long most_mb = config->max_memory / LIMITS_MIB, taken_mb = taken.memory / LIMITS_MIB;
    long long wanted_mb = wanted->memory / LIMITS_MIB;
    if (taken.count >= (size_t)config->max_sandboxes)
        snprintf(message, room,
                 "this engine holds at most %d sandboxes at a time, and has as many: kill one, or "
                 "raise maxSandboxes in its configuration",
                 config->max_sandboxes);
    else if (taken.memory + wanted->memory > config->max_memory)
        snprintf(message, room,
                 "the memory limits of all sandboxes of this engine may be %lld MB in all: %lld MB "
                 "are taken, and %lld MB were asked for; kill a sandbox, ask for less memory, or "
                 "raise maxMemoryMB in its configuration",
                 most_mb, taken_mb, wanted_mb);
    else
        return true;
    return false;
}

json_t *caps_describe(const struct engine_config *config, const struct sandboxes *set) {
    struct sandboxes_taken taken = sandboxes_taken(set);
    return json_pack("{s:i, s:I, s:I, s:I}", "maxSandboxes", config->max_sandboxes, "maxMemoryMB",
                     (json_int_t)(config->max_memory / LIMITS_MIB), "sandboxes",
                     (json_int_t)taken.count, "memoryMB", (json_int_t)(taken.memory / LIMITS_MIB));
}
