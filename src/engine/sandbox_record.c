#include "sandbox_record.h"

#include <sched.h>
#include <stdbool.h>
#include <unistd.h>

#include "rfc3339.h"

/* The version of E2B's envd whose interface the agent has. */
#define ENVD_VERSION "0.6.4"
#define CLIENT_ID "local"

void host_facts_read(struct host_facts *facts, const char *domain) {
    cpu_set_t set;
    int count = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
    long long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    facts->cpu_count = count;
    facts->memory_mb = (int)(pages * page / (1024 * 1024));
    facts->domain = domain;
}

json_t *sandbox_record_created(const struct sandbox_record *record,
                               const struct host_facts *facts) {
    json_t *object = json_pack("{s:s, s:s, s:s, s:s, s:s, s:s?}", "templateID", record->template_id,
                               "sandboxID", record->id, "alias", record->alias, "clientID",
                               CLIENT_ID, "envdVersion", ENVD_VERSION, "domain", facts->domain);
    if (object && record->token[0])
        json_object_set_new(object, "envdAccessToken", json_string(record->token));
    if (object && record->traffic_token[0])
        json_object_set_new(object, "trafficAccessToken", json_string(record->traffic_token));
    return object;
}

json_t *sandbox_record_listed(const struct sandbox_record *record) {
    char started[RFC3339_SIZE], end[RFC3339_SIZE];
    rfc3339_format(record->started_at, started);
    rfc3339_format(record->end_at, end);
    json_t *object = json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:i, s:i, s:i, s:s, s:s}",
                               "templateID", record->template_id, "sandboxID", record->id, "alias",
                               record->alias, "clientID", CLIENT_ID, "startedAt", started, "endAt",
                               end, "cpuCount", limits_cpu_count(&record->limits), "memoryMB",
                               (int)(record->limits.memory / LIMITS_MIB), "diskSizeMB",
                               (int)(record->limits.disk / LIMITS_MIB), "state",
                               record->paused ? "paused" : "running", "envdVersion", ENVD_VERSION);
    if (object && record->metadata)
        json_object_set(object, "metadata", record->metadata);
    return object;
}

json_t *sandbox_record_detail(const struct sandbox_record *record, const struct host_facts *facts) {
    json_t *object = sandbox_record_listed(record);
    json_t *more =
        json_pack("{s:s?, s:{s:b, s:s}}", "domain", facts->domain, "lifecycle", "autoResume",
                  record->auto_resume, "onTimeout", record->auto_pause ? "pause" : "kill");
    if (more && record->token[0])
        json_object_set_new(more, "envdAccessToken", json_string(record->token));
    if (!object || !more || json_object_update(object, more) < 0) {
        json_decref(object);
        object = NULL;
    }
    json_decref(more);
    return object;
}
