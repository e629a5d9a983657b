/*
 * farewell.h - ends a client's connection so that it sees all that was sent: writes what is left to
 * say, closes the sending half, and reads until the client has closed too (a close with unread
 * bytes would reset the connection and could destroy the answer on its way).
 */
#ifndef STEPBOX_FAREWELL_H
#define STEPBOX_FAREWELL_H

#include <ev.h>
#include <stddef.h>

struct farewell;

/* Takes fd (also on failure). Bytes are copied. `done` is called once, later; the farewell is freed
 * before. It takes at most two seconds. NULL when out of memory. */
struct farewell *farewell_start(struct ev_loop *loop, int fd, const char *bytes, size_t length,
                                void (*done)(void *user), void *user);
void farewell_stop(struct farewell *farewell);

#endif
