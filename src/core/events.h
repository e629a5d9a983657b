/*
 * events.h - what waits for sb_op_next_event().
 */
#ifndef STEPBOX_CORE_EVENTS_H
#define STEPBOX_CORE_EVENTS_H

#include "stepbox.h"

#include <jansson.h>

/* Bytes that may wait before the transfer is stopped. */
#define SBI_MAX_WAITING (1024u * 1024)

struct sbi_event;

struct sbi_events {
    struct sbi_event *first, *last;
    struct sbi_event *current; /* what the reader was given last; freed by its next call */
    size_t waiting;            /* bytes */
    bool is_unbounded;
};

void sbi_events_free(struct sbi_events *events);

/* Copies the bytes. 0, or -1 without memory. */
int sbi_events_add_output(struct sbi_events *events, sb_stream stream, double time,
                          const char *bytes, size_t length);
/* What result and error point to must live as long as the events; size is what they hold of memory.
 */
int sbi_events_add_result(struct sbi_events *events, const sb_result *result, size_t size);
int sbi_events_add_error(struct sbi_events *events, const sb_step_error *error);
int sbi_events_add_data(struct sbi_events *events, const char *bytes, size_t length);
/* entry: the JSON of the file, which is kept, or NULL. -1 with err: it is none. */
int sbi_events_add_file(struct sbi_events *events, sb_file_change change, const char *name,
                        json_t *entry, sb_error *err);

const sb_event *sbi_events_next(struct sbi_events *events);
bool sbi_events_are_full(const struct sbi_events *events);
/* So few wait that the transfer may go on: stopping and going on has its price. */
bool sbi_events_are_low(const struct sbi_events *events);
void sbi_events_unbound(struct sbi_events *events);

#endif
