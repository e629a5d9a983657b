#include "result.h"

#include "base64.h"
#include "error.h"

#include <stdlib.h>
#include <string.h>

static bool is_one_of(const char *name, const char *const *names) {
    for (; *names != NULL; names++) {
        if (strcmp(name, *names) == 0) {
            return true;
        }
    }
    return false;
}

static sb_format_kind kind_of(const char *name) {
    static const char *const bytes[] = {"png", "jpeg", "pdf", NULL};
    static const char *const text[] = {"text",  "html",       "markdown", "svg",
                                       "latex", "javascript", NULL};
    if (is_one_of(name, bytes)) {
        return SB_FORMAT_BYTES;
    }
    return is_one_of(name, text) ? SB_FORMAT_TEXT : SB_FORMAT_JSON;
}

/* Not formats, or nothing in them. */
static bool is_left_out(const char *name, const json_t *value) {
    static const char *const others[] = {"type", "is_main_result", NULL};
    if (is_one_of(name, others) || json_is_null(value)) {
        return true;
    }
    return strcmp(name, "extra") == 0 && json_object_size(value) == 0;
}

static int decode(sb_format *format, const json_t *value, sb_error *err) {
    if (!json_is_string(value)) {
        return sbi_fail(err, SB_PROTOCOL, "a result whose %s is no string", format->name);
    }
    size_t length = json_string_length(value);
    unsigned char *bytes = malloc(sbi_base64_room(length) + 1);
    if (bytes == NULL) {
        return sbi_no_memory(err);
    }
    ssize_t decoded = sbi_base64_decode(json_string_value(value), length, bytes);
    if (decoded < 0) {
        free(bytes);
        return sbi_fail(err, SB_PROTOCOL, "a result whose %s is no base64", format->name);
    }
    bytes[decoded] = '\0';
    format->data = (char *)bytes;
    format->length = (size_t)decoded;
    return 0;
}

static int copy(sb_format *format, const json_t *value, sb_error *err) {
    size_t length = json_string_length(value);
    char *data = malloc(length + 1);
    if (data == NULL) {
        return sbi_no_memory(err);
    }
    memcpy(data, json_string_value(value), length);
    data[length] = '\0';
    format->data = data;
    format->length = length;
    return 0;
}

static int print(sb_format *format, const json_t *value, sb_error *err) {
    char *text = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);
    if (text == NULL) {
        return sbi_no_memory(err);
    }
    format->data = text;
    format->length = strlen(text);
    return 0;
}

static int fill(sb_format *format, const char *name, const json_t *value, sb_error *err) {
    format->name = strdup(name);
    if (format->name == NULL) {
        return sbi_no_memory(err);
    }
    format->kind = kind_of(name);
    switch (format->kind) {
    case SB_FORMAT_BYTES:
        return decode(format, value, err);
    case SB_FORMAT_TEXT:
        /* What should be text and is not is JSON's text of it. */
        return json_is_string(value) ? copy(format, value, err) : print(format, value, err);
    default:
        return print(format, value, err);
    }
}

int sbi_result_parse(sb_result *result, const json_t *line, sb_error *err) {
    const char *name;
    json_t *value;
    sb_format *formats = calloc(json_object_size(line) + 1, sizeof *formats);
    if (formats == NULL) {
        return sbi_no_memory(err);
    }
    *result = (sb_result){.formats = formats,
                          .is_main = json_is_true(json_object_get(line, "is_main_result"))};
    json_object_foreach((json_t *)line, name, value) {
        if (is_left_out(name, value)) {
            continue;
        }
        if (fill(&formats[result->format_count++], name, value, err) != 0) {
            sbi_result_free(result);
            return -1;
        }
    }
    return 0;
}

void sbi_result_free(sb_result *result) {
    for (size_t i = 0; i < result->format_count; i++) {
        free((void *)result->formats[i].name);
        free((void *)result->formats[i].data);
    }
    free((void *)result->formats);
    *result = (sb_result){0};
}
