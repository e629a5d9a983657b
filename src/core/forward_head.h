/*
 * forward_head.h - rewrites the head of a request to 127.0.0.1 into one to a sandbox's port on a
 * server far away.
 *
 * The bytes are foreign. The connection is for one request: its head asks the server to close, so
 * that no other request, with a head that was not rewritten, follows it; an upgraded connection
 * stays open.
 */
#ifndef STEPBOX_CORE_FORWARD_HEAD_H
#define STEPBOX_CORE_FORWARD_HEAD_H

#include "buffer.h"

/* A head may have this many bytes. */
#define SBI_FORWARD_HEAD_MAX (64u * 1024)

struct sbi_forward_rules {
    const char *host;   /* the Host header's value */
    const char *prefix; /* put before each path; "" or "/..." without a slash at its end */
    const char *lines;  /* added: "Name: value\r\n...", or "" */
};

enum sbi_forward_head_result {
    SBI_FORWARD_HEAD_DONE,
    SBI_FORWARD_HEAD_MORE, /* it has not all come */
    SBI_FORWARD_HEAD_BAD   /* not a request that can be passed on */
};

/* Appends the rewritten head to `out` (whose bound must be at least twice the head's and the
 * rules'). used: how many of the bytes were the head. upgrade: it asks for another protocol. */
enum sbi_forward_head_result sbi_forward_head_rewrite(const char *bytes, size_t length,
                                                      const struct sbi_forward_rules *rules,
                                                      struct sbi_buffer *out, size_t *used,
                                                      bool *upgrade);

#endif
