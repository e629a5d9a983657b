/* metadata.c - see metadata.h */
#include "metadata.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/xattr.h>

#define PREFIX "user.e2b."
#define PREFIX_LENGTH (sizeof PREFIX - 1)
#define NAMES_MAX ((size_t)64 * 1024) /* the kernel's own bound on lists and on values */
#define NAME_SIZE (PREFIX_LENGTH + METADATA_KEY_MAX + 1)

static bool is_printable(const char *text, size_t length) {
    for (size_t i = 0; i < length; i++) {
        if (text[i] < 0x20 || text[i] > 0x7e)
            return false;
    }
    return true;
}

const char *metadata_fault(json_t *metadata, char *text, size_t size) {
    const char *name;
    json_t *value;
    size_t total = 0;
    if (!json_is_object(metadata)) {
        snprintf(text, size, "metadata must be an object of strings");
        return text;
    }
    json_object_foreach(metadata, name, value) {
        size_t length = strlen(name);
        total += PREFIX_LENGTH + length + json_string_length(value);
        if (!*name)
            snprintf(text, size, "a metadata key is empty");
        else if (!is_printable(name, length))
            snprintf(text, size, "a metadata key has bytes that are not printable ASCII");
        else if (length > METADATA_KEY_MAX)
            snprintf(text, size, "the metadata key '%.40s...' is longer than %d bytes", name,
                     METADATA_KEY_MAX);
        else if (!json_is_string(value))
            snprintf(text, size, "the metadata of '%s' is not a string", name);
        else if (!is_printable(json_string_value(value), json_string_length(value)))
            snprintf(text, size, "the metadata of '%s' has bytes that are not printable ASCII",
                     name);
        else
            continue;
        return text;
    }
    if (total <= METADATA_TOTAL_MAX)
        return NULL;
    snprintf(text, size, "the metadata takes %zu bytes, more than %d", total, METADATA_TOTAL_MAX);
    return text;
}

bool metadata_supported(int fd) {
    return fgetxattr(fd, PREFIX "stepbox", NULL, 0) >= 0 || errno == ENODATA || errno == ERANGE;
}

/* Removes the attributes of ours that are not in the set. */
static int remove_others(int fd, const json_t *metadata) {
    static char names[NAMES_MAX];
    ssize_t length = flistxattr(fd, names, sizeof names);
    if (length < 0)
        return errno == ENOTSUP ? 0 : -1;
    for (const char *name = names; name < names + length; name += strlen(name) + 1) {
        if (strncmp(name, PREFIX, PREFIX_LENGTH) != 0 ||
            json_object_get(metadata, name + PREFIX_LENGTH))
            continue;
        if (fremovexattr(fd, name) && errno != ENODATA)
            return -1;
    }
    return 0;
}

int metadata_write(int fd, const json_t *metadata) {
    const char *key;
    json_t *value;
    char name[NAME_SIZE];
    if (remove_others(fd, metadata))
        return -1;
    json_object_foreach((json_t *)metadata, key, value) {
        if ((size_t)snprintf(name, sizeof name, "%s%s", PREFIX, key) >= sizeof name) {
            errno = ERANGE;
            return -1;
        }
        if (fsetxattr(fd, name, json_string_value(value), json_string_length(value), 0))
            return -1;
    }
    return 0;
}

json_t *metadata_read(const char *path) {
    static char names[NAMES_MAX], value[NAMES_MAX];
    json_t *metadata = NULL;
    ssize_t length = listxattr(path, names, sizeof names);
    for (const char *name = names; length > 0 && name < names + length; name += strlen(name) + 1) {
        if (strncmp(name, PREFIX, PREFIX_LENGTH) != 0)
            continue;
        ssize_t size = getxattr(path, name, value, sizeof value);
        json_t *text = size < 0 ? NULL : json_stringn(value, (size_t)size);
        if (!text)
            continue;
        if (!metadata)
            metadata = json_object();
        json_object_set_new(metadata, name + PREFIX_LENGTH, text);
    }
    return metadata;
}
