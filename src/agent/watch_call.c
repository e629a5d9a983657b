/* watch_call.c - see watch_call.h */
#include "watch_call.h"

#include <stdlib.h>

directory_watch *watch_call_start(const struct agent *agent, http_request *request,
                                  const json_t *message, const watch_listener *listener, void *user,
                                  filesystem_refuse *refuse) {
    watch_options options = {0};
    watch_fault fault;
    if (!filesystem_flag(json_object_get(message, "recursive"), &options.recursive) ||
        !filesystem_flag(filesystem_member(message, "includeEntry", "include_entry"),
                         &options.include_entry) ||
        !filesystem_flag(filesystem_member(message, "allowNetworkMounts", "allow_network_mounts"),
                         &options.network_mounts)) {
        refuse(request, "invalid_argument",
               "recursive, includeEntry and allowNetworkMounts must be booleans");
        return NULL;
    }
    char *path = filesystem_path(agent, request, message, "path", refuse);
    if (!path)
        return NULL;
    options.path = path;
    directory_watch *watch =
        watch_start(http_request_loop(request), &options, listener, user, &fault);
    free(path);
    if (!watch)
        refuse(request, fault.code, fault.message);
    return watch;
}
