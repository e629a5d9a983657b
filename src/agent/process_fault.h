/*
 * process_fault.h - why a call to the process service fails, until it is known how to say so.
 */
#ifndef STEPBOX_PROCESS_FAULT_H
#define STEPBOX_PROCESS_FAULT_H

#include <stdbool.h>

typedef struct process_fault {
    const char *code;  /* one of Connect's; NULL: there is no fault */
    char message[600]; /* valid UTF-8 as long as what went into it is */
} process_fault;

/* Sets the fault; returns false, for callers that fail with it. */
bool process_fault_set(process_fault *fault, const char *code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* For "%.*s": how many bytes of a text that a client sent are quoted, whole characters. */
int process_fault_quote(const char *text);

#endif
