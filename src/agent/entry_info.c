/* entry_info.c - see entry_info.h */
#include "entry_info.h"

#include "json_text.h"
#include "metadata.h"
#include "path.h"
#include "user.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define PERMISSIONS_SIZE 16
#define TIME_SIZE 48

/* NULL for what is neither file, directory nor link: FILE_TYPE_UNSPECIFIED. */
static const char *type_name(mode_t mode) {
    return S_ISREG(mode)   ? "FILE_TYPE_FILE"
           : S_ISDIR(mode) ? "FILE_TYPE_DIRECTORY"
           : S_ISLNK(mode) ? "FILE_TYPE_SYMLINK"
                           : NULL;
}

/* As Go shows modes: "-rw-r--r--", "drwxr-xr-x", "Lrwxrwxrwx", "dtrwxrwxrwx", "Dcrw-rw-rw-". */
static void show_permissions(mode_t mode, char text[PERMISSIONS_SIZE]) {
    const struct {
        char letter;
        bool set;
    } kinds[] = {
        {'d', S_ISDIR(mode)},  {'L', S_ISLNK(mode)},  {'D', S_ISBLK(mode) || S_ISCHR(mode)},
        {'p', S_ISFIFO(mode)}, {'S', S_ISSOCK(mode)}, {'u', mode & S_ISUID},
        {'g', mode & S_ISGID}, {'c', S_ISCHR(mode)},  {'t', mode & S_ISVTX},
    };
    char *to = text;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (kinds[i].set)
            *to++ = kinds[i].letter;
    }
    if (to == text)
        *to++ = '-';
    for (int bit = 8; bit >= 0; bit--)
        *to++ = mode >> bit & 1 ? "xwr"[bit % 3] : '-';
    *to = '\0';
}

/* RFC 3339 in UTC. False for a year that it cannot show. */
static bool show_time(const struct timespec *when, char text[TIME_SIZE]) {
    struct tm utc;
    if (!gmtime_r(&when->tv_sec, &utc) || utc.tm_year < 1 - 1900 || utc.tm_year > 9999 - 1900)
        return false;
    int length = snprintf(text, TIME_SIZE, "%04d-%02d-%02dT%02d:%02d:%02d", utc.tm_year + 1900,
                          utc.tm_mon + 1, utc.tm_mday, utc.tm_hour, utc.tm_min, utc.tm_sec);
    if (when->tv_nsec)
        snprintf(text + length, TIME_SIZE - (size_t)length, ".%09ldZ", when->tv_nsec);
    else
        strcpy(text + length, "Z");
    return true;
}

/* Where a link leads, and in *target what is there. */
static json_t *follow(const char *path, struct stat *target) {
    char text[PATH_MAX];
    if (stat(path, target) == 0 && realpath(path, text))
        return json_text(text, strlen(text));
    ssize_t length = readlink(path, text, sizeof text);
    target->st_mode = S_IFLNK | 0777;
    return json_text(text, length < 0 ? 0 : (size_t)length);
}

/* Adds members that are left out when they are zero. */
static int add_numbers(json_t *entry, const struct stat *link, mode_t mode) {
    char size[24], when[TIME_SIZE];
    int failed = 0;
    snprintf(size, sizeof size, "%lld", (long long)link->st_size);
    if (link->st_size)
        failed |= json_object_set_new(entry, "size", json_string(size));
    if (mode & 0777)
        failed |= json_object_set_new(entry, "mode", json_integer(mode & 0777));
    if (show_time(&link->st_mtim, when))
        failed |= json_object_set_new(entry, "modifiedTime", json_string(when));
    return failed;
}

json_t *entry_info_as(const char *path, const char *shown) {
    struct stat link, target;
    if (lstat(path, &link))
        return NULL;
    target = link;
    json_t *symlink_target = S_ISLNK(link.st_mode) ? follow(path, &target) : NULL;
    char permissions[PERMISSIONS_SIZE], owner[USER_NAME_SIZE], group[USER_NAME_SIZE];
    size_t length;
    const char *name = path_name(shown, &length);
    show_permissions(link.st_mode, permissions);
    user_name(link.st_uid, owner);
    user_group_name(link.st_gid, group);
    json_t *entry =
        json_pack("{s:o, s:s*, s:o, s:s, s:o, s:o, s:o*, s:o*}", "name", json_text(name, length),
                  "type", type_name(target.st_mode), "path", json_text(shown, strlen(shown)),
                  "permissions", permissions, "owner", json_text(owner, strlen(owner)), "group",
                  json_text(group, strlen(group)), "symlinkTarget", symlink_target, "metadata",
                  metadata_read(path));
    if (entry && add_numbers(entry, &link, target.st_mode) == 0)
        return entry;
    json_decref(entry);
    errno = ENOMEM;
    return NULL;
}

json_t *entry_info(const char *path) {
    return entry_info_as(path, path);
}
