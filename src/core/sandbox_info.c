#include "sandbox_info.h"

#include "error.h"
#include "op.h"
#include "timestamp.h"

#include <stdlib.h>
#include <string.h>

static const char *string_of(const json_t *object, const char *name) {
    return json_string_value(json_object_get(object, name));
}

static double time_of(const json_t *object, const char *name) {
    double seconds = 0;
    const char *text = string_of(object, name);
    if (text != NULL) {
        sbi_timestamp_parse(text, strlen(text), &seconds);
    }
    return seconds;
}

static int fill_metadata(sb_info *info, json_t *object, sb_error *err) {
    json_t *metadata = json_object_get(object, "metadata"), *value;
    const char *name;
    size_t size = json_object_size(metadata);
    if (size == 0) {
        return 0;
    }
    sb_pair *pairs = calloc(size, sizeof *pairs);
    if (pairs == NULL) {
        return sbi_no_memory(err);
    }
    info->metadata = pairs;
    json_object_foreach(metadata, name, value) {
        if (json_is_string(value)) {
            pairs[info->metadata_count++] = (sb_pair){name, json_string_value(value)};
        }
    }
    return 0;
}

static int fill(sb_info *info, json_t *object, sb_error *err) {
    info->id = string_of(object, "sandboxID");
    if (info->id == NULL) {
        return sbi_fail(err, SB_PROTOCOL, "the server's answer has a sandbox without a sandboxID");
    }
    info->template_id = string_of(object, "templateID");
    info->alias = string_of(object, "alias");
    info->state = string_of(object, "state");
    info->envd_version = string_of(object, "envdVersion");
    info->domain = string_of(object, "domain");
    info->started_at = time_of(object, "startedAt");
    info->end_at = time_of(object, "endAt");
    info->cpu_count = json_integer_value(json_object_get(object, "cpuCount"));
    info->memory_mb = json_integer_value(json_object_get(object, "memoryMB"));
    info->disk_mb = json_integer_value(json_object_get(object, "diskSizeMB"));
    json_t *details = json_object_get(object, "local");
    if (json_is_object(details) && (info->details = json_dumps(details, JSON_COMPACT)) == NULL) {
        return sbi_no_memory(err);
    }
    return fill_metadata(info, object, err);
}

struct sbi_infos *sbi_infos_new(json_t *root, sb_error *err) {
    bool is_list = json_is_array(root);
    size_t count = is_list ? json_array_size(root) : 1;
    struct sbi_infos *infos = calloc(1, sizeof *infos);
    sb_info *array = calloc(count + 1, sizeof *array);
    if (infos == NULL || array == NULL) {
        free(infos);
        free(array);
        json_decref(root);
        sbi_no_memory(err);
        return NULL;
    }
    infos->root = root;
    infos->infos = array;
    infos->count = count;
    for (size_t i = 0; i < count; i++) {
        if (fill(&array[i], is_list ? json_array_get(root, i) : root, err) != 0) {
            sbi_infos_free(infos);
            return NULL;
        }
    }
    return infos;
}

void sbi_infos_free(struct sbi_infos *infos) {
    if (infos == NULL) {
        return;
    }
    for (size_t i = 0; i < infos->count; i++) {
        free((void *)infos->infos[i].metadata);
        free((void *)infos->infos[i].details);
    }
    free(infos->infos);
    json_decref(infos->root);
    free(infos->next_token);
    free(infos);
}

size_t sb_op_info_count(const sb_op *op) {
    return op->infos != NULL ? op->infos->count : 0;
}

const sb_info *sb_op_info(const sb_op *op, size_t index) {
    return index < sb_op_info_count(op) ? &op->infos->infos[index] : NULL;
}

const char *sb_op_next_token(const sb_op *op) {
    return op->infos != NULL ? op->infos->next_token : NULL;
}
