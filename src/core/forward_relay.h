/*
 * forward_relay.h - bytes between an accepted connection and its far side, both ways, with the end
 * of each stream passed on by itself.
 */
#ifndef STEPBOX_CORE_FORWARD_RELAY_H
#define STEPBOX_CORE_FORWARD_RELAY_H

#include "forward_far.h"
#include "stepbox.h"

/* One direction. */
struct sbi_relay_flow {
    char *bytes; /* that have been read and not yet sent: [start, end). NULL when there are none */
    size_t start, end, capacity;
    bool ended;     /* the source has sent everything */
    bool delivered; /* and so it was told to the destination */
    bool dropped;   /* the destination takes nothing any more: read and forget */
};

struct sbi_relay {
    int local_fd;
    struct sbi_far *far;
    bool answer_ends_all;  /* HTTP: when the far side has ended there is nothing more to send it */
    bool request_ends_all; /* when we have ended and the far side cannot be told, that is all */
    struct sbi_relay_flow up, down; /* local to far, far to local */
    bool has_more;                  /* there is something to do without waiting for a descriptor */
};

enum sbi_relay_state {
    SBI_RELAY_RUNS,
    SBI_RELAY_ENDED, /* both streams have ended, or the local side has gone */
    SBI_RELAY_BROKEN /* the far side broke off */
};

/* Bytes (malloc()ed; taken) that go to the far side before those that are read, or to the local
 * one. Only before the first run. */
void sbi_relay_prepend_up(struct sbi_relay *relay, char *bytes, size_t length);
void sbi_relay_prepend_down(struct sbi_relay *relay, char *bytes, size_t length);

/* Does what can be done without waiting. */
enum sbi_relay_state sbi_relay_run(struct sbi_relay *relay);

/* What to poll() for afterwards; 0: nothing. */
short sbi_relay_local_events(const struct sbi_relay *relay);
short sbi_relay_far_events(const struct sbi_relay *relay);

/* Whether a side that has ended its stream is gone altogether, which no event tells. */
bool sbi_relay_is_deserted(const struct sbi_relay *relay);

void sbi_relay_free(struct sbi_relay *relay); /* its buffers */

#endif
