/*
 * stepbox_ports.h - reaching a server that runs inside a sandbox. Included by stepbox.h.
 */
#ifndef STEPBOX_PORTS_H
#define STEPBOX_PORTS_H

#include "stepbox.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The host name of a port, "PORT-ID.DOMAIN". A string to free(), or NULL. With the local engine it
 * is what the Host header must say on the engine's socket or address. */
SB_API char *sb_box_host(const sb_box *box, int port, sb_error *err);

typedef struct sb_forward sb_forward;

/* Listens on 127.0.0.1 and passes each connection on to the port inside the sandbox, in a thread of
 * its own, until it is freed. local_port 0: any that is free. With the local engine any protocol
 * over TCP goes; elsewhere HTTP and WebSockets alone. The box may be freed before. */
SB_API sb_forward *sb_forward_new(sb_box *box, int port, int local_port, sb_error *err);
SB_API int sb_forward_port(const sb_forward *forward); /* the local one */
/* Ends its connections and its thread. NULL is allowed. */
SB_API void sb_forward_free(sb_forward *forward);

#ifdef __cplusplus
}
#endif
#endif
