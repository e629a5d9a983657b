/* watch_call.h - what WatchDir and CreateWatcher ask for. */
#ifndef STEPBOX_WATCH_CALL_H
#define STEPBOX_WATCH_CALL_H

#include "filesystem_request.h"
#include "watch.h"

/* Starts the watch that a message asks for. NULL: the request has been answered. */
directory_watch *watch_call_start(const struct agent *agent, http_request *request,
                                  const json_t *message, const watch_listener *listener, void *user,
                                  filesystem_refuse *refuse);

#endif
