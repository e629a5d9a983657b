/*
 * process_signal.h - the kill of a process whose operation has ended before it.
 */
#ifndef STEPBOX_CORE_PROCESS_SIGNAL_H
#define STEPBOX_CORE_PROCESS_SIGNAL_H

#include "box.h"

/* Sends SIGKILL to a process by its id; nobody waits for what comes of it. */
void sbi_process_kill_unattended(sb_box *box, int64_t pid, const char *user);

#endif
