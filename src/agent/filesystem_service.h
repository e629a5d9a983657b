/*
 * filesystem_service.h - the calls of filesystem.Filesystem. Files are transferred elsewhere.
 */
#ifndef STEPBOX_FILESYSTEM_SERVICE_H
#define STEPBOX_FILESYSTEM_SERVICE_H

#include "agent.h"

void filesystem_stat(struct agent *agent, http_request *request);
void filesystem_make_dir(struct agent *agent, http_request *request);
void filesystem_move(struct agent *agent, http_request *request);
void filesystem_list_dir(struct agent *agent, http_request *request);
void filesystem_remove(struct agent *agent, http_request *request);

void filesystem_watch_dir(struct agent *agent, http_request *request);
void filesystem_create_watcher(struct agent *agent, http_request *request);
void filesystem_get_watcher_events(struct agent *agent, http_request *request);
void filesystem_remove_watcher(struct agent *agent, http_request *request);
/* Ends all watchers, when the loop does not run any more. */
void filesystem_free_watchers(struct agent *agent);

#endif
