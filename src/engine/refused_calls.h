/*
 * refused_calls.h - answers and counts the system calls that a sandbox is refused.
 *
 * Every process of a sandbox runs under the filter (syscall_filter.h), and each installation of it
 * has a listener: a descriptor on which the kernel hands over the calls that the filter refuses.
 * The caller waits until it is answered. It is answered with an error, and nothing of it is looked
 * at but the call itself; the kernel is never told to go on with one.
 *
 * However many calls come, the engine spends little time on them: each sandbox has so many answers
 * a second, and all together have; the others wait.
 */
#ifndef STEPBOX_REFUSED_CALLS_H
#define STEPBOX_REFUSED_CALLS_H

#include <ev.h>
#include <jansson.h>

#include "syscall_filter.h"

/* What the sandboxes of an engine share. */
struct refused_set;

/* The filter must live as long. NULL when out of memory. */
struct refused_set *refused_set_new(struct ev_loop *loop, struct syscall_filter *filter);
/* After those of the sandboxes. NULL is fine. */
void refused_set_free(struct refused_set *set);
/* The filter that it was made with. */
const struct syscall_filter *refused_set_filter(const struct refused_set *set);

/* Of one sandbox. */
struct refused_calls;

/* Called for the first call of each name: for the sandbox's log. */
typedef void refused_first(const char *name, void *user);

struct refused_calls *refused_calls_new(struct refused_set *set, refused_first *first, void *user);
/* Closes all listeners: the kernel answers calls with ENOSYS then. NULL is fine. */
void refused_calls_free(struct refused_calls *calls);
/* Takes a listener, also on failure; it is closed when no process is left under its filter. 0, or
 * -1 with errno when it is none (ENOTTY), or there are too many. */
int refused_calls_add(struct refused_calls *calls, int listener_fd);
size_t refused_calls_listeners(const struct refused_calls *calls);
/* {"mount": 3, ...}, by the names of calls; NULL when out of memory. */
json_t *refused_calls_describe(const struct refused_calls *calls);

#endif
