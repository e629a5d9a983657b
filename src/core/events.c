#include "events.h"

#include "error.h"
#include "file_entry.h"

#include <stdlib.h>
#include <string.h>

struct sbi_event {
    struct sbi_event *next;
    sb_event view;
    sb_result result; /* a copy: the execution's array may move while it grows */
    sb_step_error error;
    sb_file_event file;
    struct sbi_entries *entries; /* of a file: one, or NULL */
    size_t size;                 /* what it counts for in `waiting` */
    char text[];                 /* of output, data, or a file's name */
};

static struct sbi_event *add(struct sbi_events *events, sb_event_type type, size_t text,
                             size_t size) {
    struct sbi_event *event = malloc(sizeof *event + text);
    if (event == NULL) {
        return NULL;
    }
    memset(event, 0, sizeof *event);
    event->view.type = type;
    event->size = sizeof *event + size;
    *(events->last != NULL ? &events->last->next : &events->first) = event;
    events->last = event;
    events->waiting += event->size;
    return event;
}

static struct sbi_event *add_text(struct sbi_events *events, sb_event_type type, const char *bytes,
                                  size_t length) {
    struct sbi_event *event = add(events, type, length + 1, length);
    if (event != NULL) {
        memcpy(event->text, bytes, length);
        event->text[length] = '\0';
    }
    return event;
}

int sbi_events_add_output(struct sbi_events *events, sb_stream stream, double time,
                          const char *bytes, size_t length) {
    struct sbi_event *event = add_text(events, SB_EVENT_OUTPUT, bytes, length);
    if (event == NULL) {
        return -1;
    }
    event->view.output = (sb_log){stream, time, event->text, length};
    return 0;
}

int sbi_events_add_data(struct sbi_events *events, const char *bytes, size_t length) {
    struct sbi_event *event = add_text(events, SB_EVENT_DATA, bytes, length);
    if (event == NULL) {
        return -1;
    }
    event->view.output = (sb_log){.data = event->text, .length = length};
    return 0;
}

/* About what an entry's JSON takes of memory. */
#define ENTRY_SIZE 2048

int sbi_events_add_file(struct sbi_events *events, sb_file_change change, const char *name,
                        json_t *entry, sb_error *err) {
    struct sbi_entries *entries = NULL;
    if (entry != NULL && (entries = sbi_entries_new(json_incref(entry), err)) == NULL) {
        return -1;
    }
    struct sbi_event *event = add_text(events, SB_EVENT_FILE, name, strlen(name));
    if (event == NULL) {
        sbi_entries_free(entries);
        return sbi_no_memory(err);
    }
    size_t more = entries != NULL ? ENTRY_SIZE : 0;
    event->size += more;
    events->waiting += more;
    event->entries = entries;
    event->file = (sb_file_event){change, event->text, entries != NULL ? entries->entries : NULL};
    event->view.file = &event->file;
    return 0;
}

int sbi_events_add_result(struct sbi_events *events, const sb_result *result, size_t size) {
    struct sbi_event *event = add(events, SB_EVENT_RESULT, 0, size);
    if (event == NULL) {
        return -1;
    }
    event->result = *result;
    event->view.result = &event->result;
    return 0;
}

int sbi_events_add_error(struct sbi_events *events, const sb_step_error *error) {
    struct sbi_event *event = add(events, SB_EVENT_ERROR, 0, error->traceback_length);
    if (event == NULL) {
        return -1;
    }
    event->error = *error;
    event->view.error = &event->error;
    return 0;
}

const sb_event *sbi_events_next(struct sbi_events *events) {
    if (events->current != NULL) {
        sbi_entries_free(events->current->entries);
    }
    free(events->current);
    events->current = events->first;
    if (events->current == NULL) {
        return NULL;
    }
    events->first = events->current->next;
    if (events->first == NULL) {
        events->last = NULL;
    }
    events->waiting -= events->current->size;
    return &events->current->view;
}

bool sbi_events_are_full(const struct sbi_events *events) {
    return !events->is_unbounded && events->waiting >= SBI_MAX_WAITING;
}

bool sbi_events_are_low(const struct sbi_events *events) {
    return events->is_unbounded || events->waiting < SBI_MAX_WAITING / 2;
}

void sbi_events_unbound(struct sbi_events *events) {
    events->is_unbounded = true;
}

void sbi_events_free(struct sbi_events *events) {
    while (sbi_events_next(events) != NULL) {
    }
}
