/* file_description.c - see file_description.h */
#include "file_description.h"

#include "path.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#define DATE_FORMAT "%a, %d %b %Y %H:%M:%S GMT"

const char *file_content_type(const char *path) {
    static const struct {
        const char *extension, *type;
    } types[] = {
        {".css", "text/css; charset=utf-8"},
        {".csv", "text/csv; charset=utf-8"},
        {".gif", "image/gif"},
        {".gz", "application/gzip"},
        {".htm", "text/html; charset=utf-8"},
        {".html", "text/html; charset=utf-8"},
        {".jpeg", "image/jpeg"},
        {".jpg", "image/jpeg"},
        {".js", "text/javascript; charset=utf-8"},
        {".json", "application/json"},
        {".md", "text/markdown; charset=utf-8"},
        {".pdf", "application/pdf"},
        {".png", "image/png"},
        {".svg", "image/svg+xml"},
        {".tar", "application/x-tar"},
        {".txt", "text/plain; charset=utf-8"},
        {".wasm", "application/wasm"},
        {".webp", "image/webp"},
        {".xml", "text/xml; charset=utf-8"},
        {".zip", "application/zip"},
    };
    size_t length;
    const char *name = path_name(path, &length);
    const char *dot = memrchr(name, '.', length);
    for (size_t i = 0; dot && i < sizeof types / sizeof *types; i++) {
        if (strcasecmp(dot, types[i].extension) == 0)
            return types[i].type;
    }
    return "application/octet-stream";
}

char *file_disposition(const char *path) {
    static const char plain[] = "inline; filename=\"", extended[] = "inline; filename*=UTF-8''";
    size_t length;
    const char *name = path_name(path, &length);
    bool is_plain = true;
    for (size_t i = 0; i < length; i++)
        is_plain = is_plain && name[i] >= ' ' && name[i] <= '~' && !strchr("\"\\%", name[i]);
    char *text = malloc(sizeof extended + length * 3 + 1);
    if (!text)
        return NULL;
    if (is_plain) {
        sprintf(text, "%s%.*s\"", plain, (int)length, name);
        return text;
    }
    char *to = stpcpy(text, extended);
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)name[i];
        bool safe = (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') ||
                    (c && strchr("-._~", c));
        to += sprintf(to, safe ? "%c" : "%%%02X", c);
    }
    return text;
}

void file_tag(const struct stat *info, char tag[FILE_TAG_SIZE]) {
    snprintf(tag, FILE_TAG_SIZE, "\"%llx-%llx-%llx%08lx\"", (unsigned long long)info->st_ino,
             (unsigned long long)info->st_size, (unsigned long long)info->st_mtim.tv_sec,
             (unsigned long)info->st_mtim.tv_nsec);
}

bool file_tag_is_in(const char *tag, const char *list) {
    size_t length = strlen(tag);
    list += strspn(list, " \t");
    if (*list == '*')
        return true;
    while (*list) {
        list += strspn(list, " \t,");
        if (strncmp(list, "W/", 2) == 0) /* weakly the same is enough here */
            list += 2;
        if (strncmp(list, tag, length) == 0 && strchr(" \t,", list[length]))
            return true;
        list += strcspn(list, ",");
    }
    return false;
}

bool file_date(const struct stat *info, char date[FILE_DATE_SIZE]) {
    struct tm utc;
    return gmtime_r(&info->st_mtim.tv_sec, &utc) && utc.tm_year >= 0 && utc.tm_year <= 8099 &&
           strftime(date, FILE_DATE_SIZE, DATE_FORMAT, &utc) > 0;
}

bool file_is_unmodified_since(const struct stat *info, const char *date) {
    struct tm utc = {0};
    const char *end = strptime(date, DATE_FORMAT, &utc);
    return end && !*end && info->st_mtim.tv_sec <= timegm(&utc);
}

bool file_is_what_was_read(const struct stat *info, const char *tag, const char *condition) {
    char date[FILE_DATE_SIZE];
    return strcmp(condition, tag) == 0 || (file_date(info, date) && strcmp(condition, date) == 0);
}
