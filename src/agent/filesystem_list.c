/*
 * filesystem_list.c - what is in a directory, and below it, in the order of Go's filepath.WalkDir:
 * sorted by bytes, a directory before what it contains. Links are not followed.
 *
 * The walk goes on between the loop's other events, and its answer is gathered as text: as JSON
 * values it would take several times the memory.
 */
#include "filesystem_service.h"

#include "connect_messages.h"
#include "connect_unary.h"
#include "entry_info.h"
#include "filesystem_request.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ENTRIES_MAX 100000
#define TEXT_MAX ((size_t)64 * 1024 * 1024)
/* What one turn of the loop does at most. */
#define ENTRIES_PER_TURN 256
#define NAMES_PER_TURN 4096

struct level {
    DIR *directory; /* still being read, or NULL */
    char **names;
    size_t count, capacity, next;
    size_t path_length; /* of the directory's path in the walk's */
};

struct walk {
    struct ev_timer turn;
    http_request *request;
    uint32_t depth;
    size_t found; /* names in all directories */
    char path[PATH_MAX];
    char *shown; /* how the client calls the directory at the top, without a slash at its end */
    size_t top_length;
    struct level *levels;
    size_t level_count, level_capacity;
    char *text;
    size_t length, capacity;
};

static void free_level(struct level *level) {
    if (level->directory)
        closedir(level->directory);
    for (size_t i = level->next; i < level->count; i++)
        free(level->names[i]);
    free(level->names);
}

static void free_walk(struct ev_loop *loop, struct walk *walk) {
    ev_timer_stop(loop, &walk->turn);
    while (walk->level_count > 0)
        free_level(&walk->levels[--walk->level_count]);
    free(walk->levels);
    free(walk->shown);
    free(walk->text);
    free(walk);
}

static bool grow(void **list, size_t *capacity, size_t need, size_t size) {
    if (need <= *capacity)
        return true;
    size_t wanted = *capacity ? *capacity * 2 : 32;
    while (wanted < need)
        wanted *= 2;
    void *grown = realloc(*list, wanted * size);
    if (!grown)
        return false;
    *list = grown;
    *capacity = wanted;
    return true;
}

static int append(struct walk *walk, const char *text, size_t length) {
    if (length > TEXT_MAX - walk->length) {
        errno = EOVERFLOW;
        return -1;
    }
    if (!grow((void **)&walk->text, &walk->capacity, walk->length + length, 1))
        return -1;
    memcpy(walk->text + walk->length, text, length);
    walk->length += length;
    return 0;
}

/* Goes into the directory at the walk's path. */
static int enter(struct walk *walk, bool is_top) {
    int fd = open(walk->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | (is_top ? 0 : O_NOFOLLOW));
    DIR *directory = fd < 0 ? NULL : fdopendir(fd);
    if (!directory) {
        int error = errno;
        if (fd >= 0)
            close(fd);
        errno = error;
        return -1;
    }
    if (!grow((void **)&walk->levels, &walk->level_capacity, walk->level_count + 1,
              sizeof *walk->levels)) {
        closedir(directory);
        errno = ENOMEM;
        return -1;
    }
    walk->levels[walk->level_count++] =
        (struct level){.directory = directory, .path_length = strlen(walk->path)};
    return 0;
}

static int compare_names(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Reads some of a directory's names; when it has all, they are sorted and the directory closed. */
static int read_names(struct walk *walk, struct level *level) {
    for (int i = 0; i < NAMES_PER_TURN; i++) {
        errno = 0;
        struct dirent *entry = readdir(level->directory);
        if (!entry) {
            if (errno)
                return -1;
            closedir(level->directory);
            level->directory = NULL;
            if (level->count > 0)
                qsort(level->names, level->count, sizeof *level->names, compare_names);
            return 0;
        }
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        if (++walk->found > ENTRIES_MAX) {
            errno = EOVERFLOW;
            return -1;
        }
        char *name = strdup(entry->d_name);
        if (!name || !grow((void **)&level->names, &level->capacity, level->count + 1,
                           sizeof *level->names)) {
            free(name);
            errno = ENOMEM;
            return -1;
        }
        level->names[level->count++] = name;
    }
    return 0;
}

/* Adds the entry at the walk's path. *is_directory: it can be gone into. */
static int add_entry(struct walk *walk, bool *is_directory) {
    static const char directory_type[] = "FILE_TYPE_DIRECTORY";
    char shown[2 * PATH_MAX];
    snprintf(shown, sizeof shown, "%s%s", walk->shown, walk->path + walk->top_length);
    json_t *entry = entry_info_as(walk->path, shown);
    *is_directory = false;
    if (!entry) /* it is gone already */
        return errno == ENOENT || errno == ENOTDIR ? 0 : -1;
    const char *type = json_string_value(json_object_get(entry, "type"));
    *is_directory =
        type && strcmp(type, directory_type) == 0 && !json_object_get(entry, "symlinkTarget");
    char *text = json_dumps(entry, JSON_COMPACT);
    json_decref(entry);
    int failed = !text;
    if (!failed && walk->text[walk->length - 1] != '[')
        failed = append(walk, ",", 1);
    if (!failed)
        failed = append(walk, text, strlen(text));
    free(text);
    return failed ? -1 : 0;
}

/* Takes the next name of the innermost directory, or leaves it when there is none. */
static int next_entry(struct walk *walk) {
    struct level *level = &walk->levels[walk->level_count - 1];
    bool is_directory;
    if (level->next == level->count) {
        free_level(level);
        walk->level_count--;
        return 0;
    }
    char *name = level->names[level->next++];
    size_t length = level->path_length;
    /* The root's path ends with its slash. */
    size_t end = length == 1 ? 0 : length, size = strlen(name);
    if (end + 1 + size >= sizeof walk->path) {
        free(name);
        walk->path[length] = '\0';
        errno = ENAMETOOLONG;
        return -1;
    }
    walk->path[end] = '/';
    memcpy(walk->path + end + 1, name, size + 1);
    free(name);
    if (add_entry(walk, &is_directory))
        return -1;
    /* A directory that is gone, is none any more or is closed to us has no contents to show. */
    if (is_directory && walk->level_count < walk->depth && enter(walk, false) && errno != ENOENT &&
        errno != ENOTDIR && errno != ELOOP && errno != EACCES)
        return -1;
    return 0;
}

/* The answer's text while it is sent. */
struct content {
    char *text;
    size_t length, sent;
};

static ssize_t read_content(void *user, char *to, size_t max) {
    struct content *content = user;
    size_t left = content->length - content->sent, part = left < max ? left : max;
    memcpy(to, content->text + content->sent, part);
    content->sent += part;
    return (ssize_t)part;
}

static void free_content(void *user) {
    struct content *content = user;
    free(content->text);
    free(content);
}

static void reply_list(struct walk *walk) {
    static const http_content functions = {read_content, free_content};
    struct content *content = calloc(1, sizeof *content);
    if (!content || append(walk, "]}", 2)) {
        free(content);
        connect_reply_error(walk->request, "resource_exhausted", "out of memory");
        return;
    }
    content->text = walk->text;
    content->length = walk->length;
    walk->text = NULL;
    http_reply_content(walk->request, 200, CONNECT_UNARY_TYPE, &functions, content,
                       content->length);
}

static void on_turn(struct ev_loop *loop, struct ev_timer *timer, int events) {
    (void)events;
    struct walk *walk = timer->data;
    int failed = 0;
    for (int i = 0; i < ENTRIES_PER_TURN && walk->level_count > 0 && !failed; i++) {
        struct level *level = &walk->levels[walk->level_count - 1];
        if (level->directory) {
            failed = read_names(walk, level);
            i += ENTRIES_PER_TURN / 16;
        } else {
            failed = next_entry(walk);
        }
    }
    if (!failed && walk->level_count > 0) {
        ev_timer_set(timer, 0.0, 0.0);
        ev_timer_start(loop, timer);
        return;
    }
    int error = errno;
    char text[FILESYSTEM_MESSAGE_SIZE];
    if (!failed) {
        reply_list(walk);
    } else if (error == EOVERFLOW) {
        snprintf(text, sizeof text, "'%s' has too much to be listed at once, more than %d entries",
                 walk->shown, ENTRIES_MAX);
        connect_reply_error(walk->request, "resource_exhausted", text);
    } else {
        filesystem_reply_error(walk->request, "error reading directory", walk->path, error);
    }
    free_walk(loop, walk);
}

static void on_gone(void *user) {
    struct walk *walk = user;
    http_request *request = walk->request;
    free_walk(http_request_loop(request), walk);
    http_reply(request, 204, NULL, NULL, 0); /* lets it go */
}

/* Resolves the path to the walk's; replies when it is no directory. */
static int resolve_top(struct walk *walk, const char *path) {
    char text[FILESYSTEM_MESSAGE_SIZE];
    if (realpath(path, walk->path)) {
        if (enter(walk, true) == 0)
            return 0;
        if (errno == ENOTDIR) {
            snprintf(text, sizeof text, "path is not a directory: %s", path);
            connect_reply_error(walk->request, "invalid_argument", text);
            return -1;
        }
    }
    if (errno == ELOOP) {
        snprintf(text, sizeof text, "cyclic symlink or chain of too many links at '%s'", path);
        connect_reply_error(walk->request, "failed_precondition", text);
    } else {
        filesystem_reply_error(walk->request,
                               errno == ENOENT ? "path not found:" : "cannot list the directory",
                               path, errno);
    }
    return -1;
}

static void start(http_request *request, const char *path, uint32_t depth) {
    struct ev_loop *loop = http_request_loop(request);
    struct walk *walk = calloc(1, sizeof *walk);
    size_t length = strlen(path);
    if (walk) {
        ev_timer_init(&walk->turn, on_turn, 0.0, 0.0);
        walk->turn.data = walk;
        walk->request = request;
        walk->depth = depth ? depth : 1;
        while (length > 0 && path[length - 1] == '/')
            length--;
        walk->shown = strndup(path, length);
    }
    if (!walk || !walk->shown || append(walk, "{\"entries\":[", 12)) {
        connect_reply_error(request, "resource_exhausted", "out of memory");
        if (walk)
            free_walk(loop, walk);
    } else if (resolve_top(walk, path)) {
        free_walk(loop, walk);
    } else {
        walk->top_length = walk->levels[0].path_length == 1 ? 0 : walk->levels[0].path_length;
        http_request_on_gone(request, on_gone, walk);
        ev_timer_start(loop, &walk->turn);
    }
}

void filesystem_list_dir(struct agent *agent, http_request *request) {
    json_t *message = filesystem_read(request);
    uint32_t depth;
    if (!message)
        return;
    if (!filesystem_number(json_object_get(message, "depth"), &depth)) {
        connect_reply_error(request, "invalid_argument", "depth must be a whole number");
    } else {
        char *path = filesystem_path(agent, request, message, "path", connect_reply_error);
        if (path)
            start(request, path, depth);
        free(path);
    }
    json_decref(message);
}
