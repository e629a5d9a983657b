/*
 * process_event.h - reads the messages that make up nearly all of a large command's answer,
 * {"event":{"data":{"stdout":"BASE64"}}}, without a tree of JSON.
 */
#ifndef STEPBOX_CORE_PROCESS_EVENT_H
#define STEPBOX_CORE_PROCESS_EVENT_H

#include "stepbox.h"

struct sbi_process_data {
    sb_stream stream;
    const char *text; /* base64, unless it has escapes; into the message */
    size_t length;
};

/* True when the message is of this form exactly. What it is otherwise is for others to say. */
bool sbi_process_data_read(const char *json, size_t length, struct sbi_process_data *out);

#endif
