/*
 * stepbox_files.h - the files of a sandbox. Included by stepbox.h.
 *
 * A path is absolute, or relative to the home directory of `user` (NULL: the sandbox's default
 * user). Failures have codes of their own: SB_NOT_FOUND, SB_IS_DIRECTORY, SB_NOT_DIRECTORY,
 * SB_EXISTS, SB_NO_SPACE, SB_PERMISSION, SB_BAD_PATH, SB_TOO_LARGE. SB_NOT_FOUND is about a path
 * alone: when the sandbox is gone it is SB_SANDBOX_LOST.
 */
#ifndef STEPBOX_FILES_H
#define STEPBOX_FILES_H

#include "stepbox.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum sb_file_type {
    SB_FILE_OTHER, /* a device, a pipe, a socket */
    SB_FILE_REGULAR,
    SB_FILE_DIRECTORY,
    SB_FILE_SYMLINK
} sb_file_type;

typedef struct sb_entry {
    const char *name, *path;
    sb_file_type type;
    int64_t size;                            /* bytes */
    unsigned mode;                           /* permission bits, 0777 */
    const char *permissions, *owner, *group; /* "-rw-r--r--"; names, or numbers as text */
    const char *symlink_target;              /* or NULL */
    int64_t modified_at;                     /* Unix seconds, and the nanoseconds beyond */
    int modified_ns;
    const sb_pair *metadata; /* the user's own, kept as extended attributes */
    size_t metadata_count;
} sb_entry;

SB_API size_t sb_op_entry_count(const sb_op *op);
SB_API const sb_entry *sb_op_entry(const sb_op *op, size_t index); /* NULL behind the last */

SB_API sb_op *sb_file_info(sb_box *box, const char *path, const char *user, sb_error *err);
/* depth: 1 lists the directory itself, 2 what is in its directories too, and so on. */
SB_API sb_op *sb_file_list(sb_box *box, const char *path, unsigned depth, const char *user,
                           sb_error *err);
/* With its parents. sb_op_flag(): it was made; false: it was there. */
SB_API sb_op *sb_file_make_dir(sb_box *box, const char *path, const char *user, sb_error *err);
/* Makes the parents of `to`, replaces a file there. Then one entry. */
SB_API sb_op *sb_file_rename(sb_box *box, const char *from, const char *to, const char *user,
                             sb_error *err);
/* A directory with all that is in it. */
SB_API sb_op *sb_file_remove(sb_box *box, const char *path, const char *user, sb_error *err);
/* Joins files to one, in this order, and removes them. Then one entry. */
SB_API sb_op *sb_file_compose(sb_box *box, const char *const *sources, size_t source_count,
                              const char *to, const char *user, sb_error *err);

/* Seconds without a byte moving after which a transfer has timed out; it has no other deadline. */
#define SB_DEFAULT_IDLE_TIMEOUT 60.0

typedef struct sb_read_options {
    const char *user;
    int64_t offset; /* of the first byte */
    int64_t length; /* how many; 0: to the end */
    /* Where the bytes go: to a descriptor (a file; written where its position is; blocking), to
     * events (SB_EVENT_DATA), or, when neither is set, to memory. */
    bool to_fd;
    int fd;
    bool events;
    uint64_t max_bytes;  /* in memory; more is SB_TOO_LARGE; 0: 1 GiB */
    double idle_timeout; /* 0: 60 */
} sb_read_options;

SB_API sb_op *sb_file_read(sb_box *box, const char *path, const sb_read_options *options,
                           sb_error *err);
/* The bytes of a read into memory (NUL-terminated behind), or "" with length 0. *length, which may
 * be NULL, of the other reads is how many bytes were passed on. */
SB_API const char *sb_op_bytes(const sb_op *op, size_t *length);

typedef struct sb_write_options {
    const char *user;
    /* Replaces what the file had. Names and values are printable ASCII; servers keep the names in
     * lower case. */
    const sb_pair *metadata;
    size_t metadata_count;
    /* Where the bytes come from: memory, a descriptor (read from its position to its end;
     * a pipe or socket must be ready, it would block the loop), or sb_op_feed(). */
    const char *bytes;
    size_t length;
    bool borrow; /* the bytes stay as they are until the operation is done: they are not copied */
    bool from_fd;
    int fd;
    bool feed;
    double idle_timeout; /* 0: 60; not counted while a feed is empty */
} sb_write_options;

/* Writes a file, over what it was, and makes its parents. Then one entry with path, name and
 * metadata. */
SB_API sb_op *sb_file_write(sb_box *box, const char *path, const sb_write_options *options,
                            sb_error *err);

/* Feeds a write. Room says how many bytes should be given now; when it is 0, the operation has news
 * once there is room again. More than that is taken too. 0, or -1 when the operation has ended
 * (its error says why) or the memory is out. */
SB_API size_t sb_op_feed_room(const sb_op *op);
SB_API int sb_op_feed(sb_op *op, const char *bytes, size_t length, sb_error *err);
SB_API int sb_op_feed_end(sb_op *op, sb_error *err);

/* A URL that reads or writes the file without an account, for who has it. Signed when the sandbox
 * has an access token. expires: Unix seconds, 0: never. A string to free(), or NULL. SB_UNSUPPORTED
 * for the local engine's socket, which no URL names: forward port 49983 and put that in front. */
SB_API char *sb_file_url(sb_box *box, const char *path, bool write, const char *user,
                         int64_t expires, sb_error *err);
/* The same without scheme and host, as "/files?...": for an address of one's own. */
SB_API char *sb_file_url_path(sb_box *box, const char *path, bool write, const char *user,
                              int64_t expires, sb_error *err);

/* --- watching */

typedef enum sb_file_change {
    SB_CHANGE_CREATE = 1,
    SB_CHANGE_WRITE,
    SB_CHANGE_REMOVE,
    SB_CHANGE_RENAME,
    SB_CHANGE_CHMOD
} sb_file_change;

typedef struct sb_file_event {
    sb_file_change change;
    const char *name;      /* relative to the watched directory */
    const sb_entry *entry; /* when asked for and there, else NULL */
} sb_file_event;

typedef struct sb_watch_options {
    const char *user;
    bool recursive;
    bool include_entry;
    bool allow_network_mounts;
} sb_watch_options;

/* Watches a directory until it is cancelled or freed. Changes come as SB_EVENT_FILE.
 * sb_op_flag(): it has begun (the operation has news then): changes from then on are seen. */
SB_API sb_op *sb_watch(sb_box *box, const char *path, const sb_watch_options *options,
                       sb_error *err);

#ifdef __cplusplus
}
#endif
#endif
