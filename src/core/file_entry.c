#include "file_entry.h"

#include "error.h"
#include "op.h"
#include "timestamp.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int fail(sb_error *err, const char *member) {
    return sbi_fail(err, SB_PROTOCOL, "the server's answer has a file whose %s cannot be one",
                    member);
}

/* What is left out or null has its default. */
static const json_t *member(const json_t *object, const char *name) {
    const json_t *value = json_object_get(object, name);
    return json_is_null(value) ? NULL : value;
}

static int read_string(const json_t *object, const char *name, const char *missing,
                       const char **value, sb_error *err) {
    const json_t *text = member(object, name);
    *value = text != NULL ? json_string_value(text) : missing;
    return text == NULL || *value != NULL ? 0 : fail(err, name);
}

/* An integer of 64 bits is a string in this JSON; parsers have to take a number too. */
static int read_integer(const json_t *object, const char *name, int64_t *value, sb_error *err) {
    const json_t *number = member(object, name);
    const char *text = json_string_value(number);
    *value = json_integer_value(number);
    if (text != NULL) {
        char *end;
        errno = 0;
        *value = strtoll(text, &end, 10);
        if (errno != 0 || end == text || *end != '\0') {
            return fail(err, name);
        }
    } else if (number != NULL && !json_is_integer(number)) {
        return fail(err, name);
    }
    return *value >= 0 ? 0 : fail(err, name);
}

/* Names of the protocol, and those that uploads answer. A type that does not exist yet is an other.
 */
static sb_file_type type_of(const char *name) {
    static const struct {
        const char *name;
        sb_file_type type;
    } types[] = {{"FILE_TYPE_FILE", SB_FILE_REGULAR},
                 {"FILE_TYPE_DIRECTORY", SB_FILE_DIRECTORY},
                 {"FILE_TYPE_SYMLINK", SB_FILE_SYMLINK},
                 {"file", SB_FILE_REGULAR},
                 {"dir", SB_FILE_DIRECTORY},
                 {"directory", SB_FILE_DIRECTORY},
                 {"symlink", SB_FILE_SYMLINK}};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (strcmp(types[i].name, name) == 0) {
            return types[i].type;
        }
    }
    return SB_FILE_OTHER;
}

static int read_type(const json_t *object, sb_file_type *type, sb_error *err) {
    static const sb_file_type numbers[] = {SB_FILE_OTHER, SB_FILE_REGULAR, SB_FILE_DIRECTORY,
                                           SB_FILE_SYMLINK};
    const json_t *value = member(object, "type");
    *type = SB_FILE_OTHER;
    if (json_is_string(value)) {
        *type = type_of(json_string_value(value));
    } else if (json_is_integer(value)) {
        json_int_t number = json_integer_value(value);
        *type = number > 0 && number < 4 ? numbers[number] : SB_FILE_OTHER;
    } else if (value != NULL) {
        return fail(err, "type");
    }
    return 0;
}

static int read_time(const json_t *object, sb_entry *entry, sb_error *err) {
    const json_t *time = member(object, "modifiedTime");
    if (time == NULL) {
        time = member(object, "modified_time");
    }
    if (time == NULL) {
        return 0;
    }
    return json_is_string(time) &&
                   sbi_timestamp_parse_exact(json_string_value(time), json_string_length(time),
                                             &entry->modified_at, &entry->modified_ns)
               ? 0
               : fail(err, "time");
}

static int read_metadata(const json_t *object, sb_entry *entry, sb_error *err) {
    json_t *metadata = json_object_get(object, "metadata"), *value;
    const char *name;
    if (metadata == NULL || json_is_null(metadata)) {
        return 0;
    }
    if (!json_is_object(metadata)) {
        return fail(err, "metadata");
    }
    size_t size = json_object_size(metadata);
    sb_pair *pairs = size > 0 ? calloc(size, sizeof *pairs) : NULL;
    if (size > 0 && pairs == NULL) {
        return sbi_no_memory(err);
    }
    json_object_foreach(metadata, name, value) {
        if (!json_is_string(value)) {
            free(pairs);
            return fail(err, "metadata");
        }
        pairs[entry->metadata_count++] = (sb_pair){name, json_string_value(value)};
    }
    entry->metadata = pairs;
    return 0;
}

static int read_link(const json_t *object, sb_entry *entry, sb_error *err) {
    const char *name = member(object, "symlinkTarget") != NULL ? "symlinkTarget" : "symlink_target";
    return read_string(object, name, NULL, &entry->symlink_target, err);
}

int sbi_entry_fill(sb_entry *entry, const json_t *object, sb_error *err) {
    *entry = (sb_entry){0};
    if (!json_is_object(object)) {
        return sbi_fail(err, SB_PROTOCOL, "the server's answer has a file that is no object");
    }
    int64_t mode;
    if (read_string(object, "name", "", &entry->name, err) != 0 ||
        read_string(object, "path", "", &entry->path, err) != 0 ||
        read_string(object, "permissions", "", &entry->permissions, err) != 0 ||
        read_string(object, "owner", "", &entry->owner, err) != 0 ||
        read_string(object, "group", "", &entry->group, err) != 0 ||
        read_type(object, &entry->type, err) != 0 ||
        read_integer(object, "size", &entry->size, err) != 0 ||
        read_integer(object, "mode", &mode, err) != 0 || read_time(object, entry, err) != 0 ||
        read_link(object, entry, err) != 0) {
        return -1;
    }
    if (entry->path[0] == '\0') {
        return fail(err, "path");
    }
    entry->mode = (unsigned)mode & 07777;
    return read_metadata(object, entry, err);
}

void sbi_entry_release(sb_entry *entry) {
    free((void *)entry->metadata);
    entry->metadata = NULL;
}

struct sbi_entries *sbi_entries_new(json_t *root, sb_error *err) {
    if (root == NULL) {
        root = json_array();
    }
    bool is_list = json_is_array(root);
    size_t count = is_list ? json_array_size(root) : 1;
    struct sbi_entries *entries = calloc(1, sizeof *entries);
    sb_entry *array = calloc(count + 1, sizeof *array);
    if (root == NULL || entries == NULL || array == NULL) {
        free(entries);
        free(array);
        json_decref(root);
        sbi_no_memory(err);
        return NULL;
    }
    *entries = (struct sbi_entries){.root = root, .entries = array};
    for (; entries->count < count; entries->count++) {
        const json_t *object = is_list ? json_array_get(root, entries->count) : root;
        if (sbi_entry_fill(&array[entries->count], object, err) != 0) {
            sbi_entries_free(entries);
            return NULL;
        }
    }
    return entries;
}

void sbi_entries_free(struct sbi_entries *entries) {
    if (entries == NULL) {
        return;
    }
    for (size_t i = 0; i < entries->count; i++) {
        sbi_entry_release(&entries->entries[i]);
    }
    free(entries->entries);
    json_decref(entries->root);
    free(entries);
}

size_t sb_op_entry_count(const sb_op *op) {
    return op->entries != NULL ? op->entries->count : 0;
}

const sb_entry *sb_op_entry(const sb_op *op, size_t index) {
    return index < sb_op_entry_count(op) ? &op->entries->entries[index] : NULL;
}
