/*
 * file_body.h - the body of a request that writes a file: bytes from memory, from a descriptor, or
 * fed; as they are, or as the one part of a form, which is all that servers before 0.5.7 take.
 */
#ifndef STEPBOX_CORE_FILE_BODY_H
#define STEPBOX_CORE_FILE_BODY_H

#include "exchange.h"
#include "file_feed.h"

enum sbi_body_kind { SBI_BODY_MEMORY, SBI_BODY_FD, SBI_BODY_FEED };

struct sbi_file_body {
    enum sbi_body_kind kind;
    const char *bytes; /* of memory */
    char *owned;       /* the same when it is a copy */
    int fd;
    int64_t left; /* bytes to read from memory or descriptor; -1: to its end */
    struct sbi_feed feed;
    bool feed_has_room; /* there is room again since this was last looked at */
    /* Of a form: */
    char head[256], tail[80];
    size_t head_length, head_at, tail_length, tail_at;
};

/* Fills kind and what belongs to it. borrow: the bytes stay the caller's. -1 with err. */
int sbi_file_body_init(struct sbi_file_body *body, const sb_write_options *options, sb_error *err);
void sbi_file_body_free(struct sbi_file_body *body);

/* Makes it a form. */
int sbi_file_body_make_form(struct sbi_file_body *body, sb_error *err);

/* What to announce: the length or -1, and the type, in `type`. */
int64_t sbi_file_body_length(const struct sbi_file_body *body);
void sbi_file_body_type(const struct sbi_file_body *body, char *type, size_t size);

/* As struct sbi_source has it. */
ssize_t sbi_file_body_read(struct sbi_file_body *body, char *bytes, size_t size, sb_error *err);

#endif
