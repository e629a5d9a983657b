#include "create_limits.h"

#include "error.h"

#include <math.h>

#define MEBIBYTE (1024.0 * 1024)
/* Above it a double has no whole mebibytes any more; nobody has as many. */
#define MOST_MEBIBYTES 1e9

static int add_bytes(json_t *object, const char *name, double bytes, const char *option,
                     sb_error *err) {
    if (bytes == 0) {
        return 0;
    }
    double mebibytes = ceil(bytes / MEBIBYTE);
    if (!(mebibytes >= 1)) {
        return sbi_fail(err, SB_INVALID, "%s: must be a number of bytes above 0", option);
    }
    if (mebibytes > MOST_MEBIBYTES) {
        return sbi_fail(err, SB_INVALID, "%s: must be fewer bytes", option);
    }
    return json_object_set_new(object, name, json_integer((json_int_t)mebibytes)) == 0
               ? 0
               : sbi_no_memory(err);
}

static int add_count(json_t *object, const char *name, uint32_t count, sb_error *err) {
    return count == 0 || json_object_set_new(object, name, json_integer(count)) == 0
               ? 0
               : sbi_no_memory(err);
}

static int add_cpus(json_t *object, double cpus, sb_error *err) {
    if (cpus == 0) {
        return 0;
    }
    if (!(cpus > 0 && isfinite(cpus))) {
        return sbi_fail(err, SB_INVALID, "cpus: must be a number above 0");
    }
    return json_object_set_new(object, "cpuCount", json_real(cpus)) == 0 ? 0 : sbi_no_memory(err);
}

int sbi_create_limits(json_t *body, const sb_limits *limits, bool local, sb_error *err) {
    json_t *object = json_object();
    if (object == NULL) {
        return sbi_no_memory(err);
    }
    if (add_bytes(object, "memoryMB", limits->memory, "memory", err) != 0 ||
        add_bytes(object, "diskMB", limits->disk, "disk", err) != 0 ||
        add_cpus(object, limits->cpus, err) != 0 ||
        add_count(object, "processes", limits->processes, err) != 0 ||
        add_count(object, "openFiles", limits->open_files, err) != 0 ||
        add_bytes(object, "outputMB", limits->output, "output", err) != 0) {
        json_decref(object);
        return -1;
    }
    if (json_object_size(object) == 0) {
        json_decref(object);
        return 0;
    }
    if (!local) {
        json_decref(object);
        return sbi_fail(
            err, SB_UNSUPPORTED,
            "memory, cpus, disk, processes, open_files and output are for the local engine: "
            "on other servers the template has its limits");
    }
    return json_object_set_new(body, "limits", object) == 0 ? 0 : sbi_no_memory(err);
}
