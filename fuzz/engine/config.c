/* The engine's configuration, and limits in requests: what is taken fits the host, what is not has
 * a message that can be shown. */
#include "engine_config.h"

#include "sandbox_record.h"

#include "../fuzz.h"

#include <sys/mman.h>
#include <unistd.h>

static const struct host_facts host = {.cpu_count = 4, .memory_mb = 8192};
static int file; /* in memory */

int LLVMFuzzerInitialize(int *argc, char ***argv) {
    (void)argc, (void)argv;
    file = memfd_create("config", MFD_CLOEXEC);
    FUZZ_CHECK(file >= 0);
    return 0;
}

static void check_limits(const struct limits *limits) {
    FUZZ_CHECK(limits->memory > 0 && limits->memory <= 8192ll * LIMITS_MIB);
    FUZZ_CHECK(limits->disk > 0 && limits->disk <= limits->memory);
    FUZZ_CHECK(limits->cpus > 0 && limits->cpus <= 4);
    FUZZ_CHECK(limits->processes > 0 && limits->open_files > 0);
}

/* The same text as the limits of a request. */
static void check_request(const void *bytes, size_t length) {
    char why[256] = "";
    struct limits limits;
    json_t *value = json_loadb(bytes, length, 0, NULL);
    limits_defaults(&limits, &host);
    if (value && limits_field(NULL, value, why, sizeof why)) {
        limits_override(&limits, value);
        if (limits_fit(&limits, &host, why, sizeof why))
            check_limits(&limits);
        else
            FUZZ_CHECK(*why && fuzz_is_printable(why));
        json_decref(limits_describe(&limits));
    }
    json_decref(value);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    char path[64], message[1024] = "";
    struct engine_config config;
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    FUZZ_CHECK(ftruncate(file, 0) == 0);
    FUZZ_CHECK(pwrite(file, bytes, length, 0) == (ssize_t)length);
    if (engine_config_load(&config, path, &host, message, sizeof message) == 0) {
        struct limits limits = engine_config_limits(&config, "base");
        check_limits(&config.limits);
        check_limits(&limits);
        FUZZ_CHECK(config.max_sandboxes > 0 && config.max_memory > 0);
        json_t *network = engine_config_network(&config);
        FUZZ_CHECK(!network || json_is_object(network));
        engine_config_free(&config);
    } else {
        FUZZ_CHECK(*message && strlen(message) < sizeof message);
    }
    check_request(bytes, length);
    return 0;
}
