/*
 * port_opening.h - waits until a connection that was handed to a sandbox's agent, to be announced
 * (CONTROL_ANNOUNCE), has been accepted by the port inside.
 */
#ifndef STEPBOX_PORT_OPENING_H
#define STEPBOX_PORT_OPENING_H

#include <ev.h>
#include <stdbool.h>

struct port_opening;

typedef void port_opening_done(bool accepted, void *user);

/* fd stays the caller's; it is not closed. `done` is called once, later; the opening is freed
 * before. NULL when out of memory. */
struct port_opening *port_opening_start(struct ev_loop *loop, int fd, port_opening_done *done,
                                        void *user);
/* Gives up without calling done. */
void port_opening_cancel(struct port_opening *opening);

#endif
