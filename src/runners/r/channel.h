/*
 * channel.h - the steps that the agent sends, what they say in return, and the standard streams.
 */
#ifndef STEPBOX_R_CHANNEL_H
#define STEPBOX_R_CHANNEL_H

#include <stdbool.h>
#include <stddef.h>

/* Takes the descriptor over. 0, or -1 with errno. */
int channel_open(int descriptor);
/* False in a process that the code forked, where the protocol belongs to the parent. */
bool channel_is_ours(void);
/* Sends a line without its end. What is written to a stream afterwards comes after it. */
void channel_send(const char *line, size_t length);
/* Writes to a standard stream (1 or 2), in order with what the other one got. */
void channel_write(int stream, const char *bytes, size_t length);
/* Programs that the code starts write next: what there is of ours comes before. */
void channel_hand_over(void);

/* Waits for the next step, sets its variables and counts it. False when the agent is gone. */
bool step_wait(void);
/* Its code (UTF-8). NULL when the step cannot run; *why says so. */
const char *step_code(size_t *length, const char **why);
/* Ends it: its variables get their old values, and the agent is told. */
void step_end(bool leaving);

#endif
