/*
 * routes.h - default routes, as the kernel lists them for the network that the process is in.
 */
#ifndef STEPBOX_ROUTES_H
#define STEPBOX_ROUTES_H

#include <stdbool.h>

/* Whether there is a default route of IPv6, or of IPv4, through the link of this name; NULL:
 * through any, but that by which the kernel refuses. */
bool routes_have_default(bool v6, const char *link);

#endif
