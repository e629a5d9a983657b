/*
 * process_kill.h - the kill of a process whose operation has ended before it, on servers that do
 * not see to that themselves. Nobody waits for what comes of it.
 */
#ifndef STEPBOX_CORE_PROCESS_KILL_H
#define STEPBOX_CORE_PROCESS_KILL_H

#include "box.h"
#include "rpc_stream.h"

/* Sends SIGKILL to a process by its id. */
void sbi_process_kill(sb_box *box, int64_t pid, const char *user);

/* Takes over a start that is under way, with what `stream` holds of an incomplete message, and
 * kills the process as soon as its id is known. Returns whether it could. */
bool sbi_process_kill_later(sb_box *box, struct sbi_exchange *start, struct sbi_rpc_stream *stream,
                            const char *user);

#endif
