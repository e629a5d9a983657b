#include "sandbox_limits.h"

#include <stdio.h>
#include <string.h>

#include "sandbox_record.h"

#define DEFAULT_MEMORY (2048ll * LIMITS_MIB)
#define DEFAULT_DISK (1024ll * LIMITS_MIB)
#define DEFAULT_PROCESSES 512
#define DEFAULT_OPEN_FILES 65536
/* Of output: so much that hardly any code is cut, and so little that a client that keeps all it is
 * sent survives. All files of a sandbox go through one command in any case (a tar stream). */
#define DEFAULT_OUTPUT (1024ll * LIMITS_MIB)
#define OUTPUT_PER_DISK 2

/* Below these an agent and a runner do not come up. */
#define LEAST_MEMORY_MB 64
#define LEAST_DISK_MB 4
#define LEAST_PROCESSES 8
#define LEAST_OPEN_FILES 64
#define LEAST_OUTPUT_MB 1
#define LEAST_CPUS 0.05

#define MOST_MB (1024 * 1024) /* 1 TiB */
#define MOST_PROCESSES 32768
#define MOST_OPEN_FILES 65536
#define MOST_CPUS 1024

void limits_defaults(struct limits *limits, const struct host_facts *host) {
    int64_t half = (int64_t)host->memory_mb / 2 * LIMITS_MIB;
    *limits = (struct limits){.memory = half < DEFAULT_MEMORY ? half : DEFAULT_MEMORY,
                              .disk = DEFAULT_DISK,
                              .cpus = host->cpu_count,
                              .processes = DEFAULT_PROCESSES,
                              .open_files = DEFAULT_OPEN_FILES};
    if (limits->disk > limits->memory / 2)
        limits->disk = limits->memory / 2;
}

static const struct number_rule {
    const char *name;
    double least, most;
    bool whole;
} numbers[] = {
    {"memoryMB", LEAST_MEMORY_MB, MOST_MB, true},
    {"cpuCount", LEAST_CPUS, MOST_CPUS, false},
    {"diskMB", LEAST_DISK_MB, MOST_MB, true},
    {"processes", LEAST_PROCESSES, MOST_PROCESSES, true},
    {"openFiles", LEAST_OPEN_FILES, MOST_OPEN_FILES, true},
    {"outputMB", LEAST_OUTPUT_MB, MOST_MB, true},
};

static const struct number_rule *find(const char *name) {
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (strcmp(numbers[i].name, name) == 0)
            return &numbers[i];
    return NULL;
}

bool limits_field(const struct field_rule *rule, json_t *value, char *why, size_t room) {
    (void)rule;
    if (!json_is_object(value)) {
        snprintf(why, room, "must be an object");
        return false;
    }
    const char *name;
    json_t *item;
    json_object_foreach(value, name, item) {
        const struct number_rule *number = find(name);
        if (!number) {
            snprintf(why, room, "has an unknown field \"%.100s\"", name);
            return false;
        }
        if (json_is_null(item))
            continue;
        double amount = json_number_value(item);
        if (!(number->whole ? json_is_integer(item) : json_is_number(item)) ||
            !(amount >= number->least && amount <= number->most)) {
            snprintf(why, room, "has a wrong \"%s\": it must be %s from %g to %.0f", name,
                     number->whole ? "an integer" : "a number", number->least, number->most);
            return false;
        }
    }
    return true;
}

void limits_override(struct limits *limits, json_t *object) {
    json_t *disk = object ? fields_get(object, "diskMB") : NULL;
    json_t *memory = object ? fields_get(object, "memoryMB") : NULL;
    json_t *cpus = object ? fields_get(object, "cpuCount") : NULL;
    json_t *output = object ? fields_get(object, "outputMB") : NULL;
    if (memory) {
        limits->memory = json_integer_value(memory) * LIMITS_MIB;
        /* The default is no wish: it gives way. */
        if (!disk && limits->disk > limits->memory / 2)
            limits->disk = limits->memory / 2;
    }
    if (disk)
        limits->disk = json_integer_value(disk) * LIMITS_MIB;
    if (output)
        limits->output = json_integer_value(output) * LIMITS_MIB;
    if (cpus)
        limits->cpus = json_number_value(cpus);
    if (object) {
        limits->processes = (int)fields_integer(object, "processes", limits->processes);
        limits->open_files = (int)fields_integer(object, "openFiles", limits->open_files);
    }
}

bool limits_fit(const struct limits *limits, const struct host_facts *host, char *message,
                size_t room) {
    long long memory_mb = limits->memory / LIMITS_MIB, disk_mb = limits->disk / LIMITS_MIB;
    if (memory_mb > host->memory_mb)
        snprintf(message, room,
                 "field \"limits\" has a wrong \"memoryMB\": %lld is more than this host has (%d)",
                 memory_mb, host->memory_mb);
    else if (limits->cpus > host->cpu_count)
        snprintf(message, room,
                 "field \"limits\" has a wrong \"cpuCount\": %g is more than this host has (%d)",
                 limits->cpus, host->cpu_count);
    else if (limits->disk > limits->memory / 4 * 3)
        snprintf(message, room,
                 "field \"limits\" has a wrong \"diskMB\": files are kept in the sandbox's memory, "
                 "and %lld is more than three quarters of a \"memoryMB\" of %lld",
                 disk_mb, memory_mb);
    else
        return true;
    return false;
}

int64_t limits_output(const struct limits *limits) {
    int64_t files = limits->disk * OUTPUT_PER_DISK;
    return limits->output ? limits->output : files > DEFAULT_OUTPUT ? files : DEFAULT_OUTPUT;
}

int limits_cpu_count(const struct limits *limits) {
    int whole = (int)limits->cpus;
    return whole < limits->cpus ? whole + 1 : whole;
}

json_t *limits_describe(const struct limits *limits) {
    return json_pack("{s:I, s:f, s:I, s:i, s:i, s:I}", "memoryMB",
                     (json_int_t)(limits->memory / LIMITS_MIB), "cpuCount", limits->cpus, "diskMB",
                     (json_int_t)(limits->disk / LIMITS_MIB), "processes", limits->processes,
                     "openFiles", limits->open_files, "outputMB",
                     (json_int_t)(limits_output(limits) / LIMITS_MIB));
}
