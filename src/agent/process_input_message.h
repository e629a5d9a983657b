/*
 * process_input_message.h - the bytes in a message for a process.
 */
#ifndef STEPBOX_PROCESS_INPUT_MESSAGE_H
#define STEPBOX_PROCESS_INPUT_MESSAGE_H

#include "process_fault.h"
#include "process_input.h"

#include <jansson.h>

/* Reads a ProcessInput, {"stdin": base64} or {"pty": base64}, for a process, into an item, whose
 * bytes it allocates. False: *fault says what is wrong with it, or why the process does not take
 * it. */
bool process_input_read(const struct process *process, const json_t *input,
                        process_input_item *item, process_fault *fault);

#endif
