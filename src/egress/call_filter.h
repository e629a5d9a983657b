/*
 * call_filter.h - which system calls the part of stepbox-egress may make that reads what comes from
 * the sandbox.
 */
#ifndef STEPBOX_CALL_FILTER_H
#define STEPBOX_CALL_FILTER_H

/* For this process, its threads to come, and for ever. What is not allowed fails with ENOSYS. The
 * process must have PR_SET_NO_NEW_PRIVS. 0, or -1 with errno. */
int call_filter_install(void);

#endif
