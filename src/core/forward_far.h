/*
 * forward_far.h - the far side of a forwarded connection: a socket to the local engine, or what
 * libcurl has connected to a server, with TLS or without.
 */
#ifndef STEPBOX_CORE_FORWARD_FAR_H
#define STEPBOX_CORE_FORWARD_FAR_H

#include <curl/curl.h>
#include <stdbool.h>
#include <stddef.h>

struct sbi_far {
    int fd;     /* -1: not connected */
    CURL *easy; /* NULL: fd is ours */
    bool is_tls;
};

enum sbi_far_result {
    SBI_FAR_DONE,
    SBI_FAR_AGAIN, /* wait for the descriptor */
    SBI_FAR_END,   /* only when receiving */
    SBI_FAR_BROKEN
};

/* Bytes moved, at least one when it is done. The same bytes must be offered again after
 * SBI_FAR_AGAIN, at the same address (TLS). */
enum sbi_far_result sbi_far_receive(struct sbi_far *far, char *bytes, size_t length, size_t *moved);
enum sbi_far_result sbi_far_send(struct sbi_far *far, const char *bytes, size_t length,
                                 size_t *moved);

/* Ends what we send, where the transport has that: TLS through libcurl has not. */
void sbi_far_end(struct sbi_far *far);

#endif
