/*
 * kill_request.h - the kill of one sandbox away from any loop: by the reaper thread, and at exit.
 */
#ifndef STEPBOX_CORE_KILL_REQUEST_H
#define STEPBOX_CORE_KILL_REQUEST_H

#include "config.h"
#include "local_socket.h"

#include <curl/curl.h>

struct sbi_kill_request {
    CURL *easy;
    struct curl_slist *headers;
    struct sbi_dial dial;
};

/* Adds the request to multi; `user` is its CURLINFO_PRIVATE. 0, or -1 without memory. */
int sbi_kill_request_start(struct sbi_kill_request *request, CURLM *multi,
                           struct sbi_config *config, const char *id, double timeout, void *user);

/* After it was done: true when the sandbox is gone or nothing more can be done about it, false when
 * it is worth another try. */
bool sbi_kill_request_settled(struct sbi_kill_request *request, CURLcode result);

/* Takes it out of multi and frees what it holds; nothing happens when it was not started. */
void sbi_kill_request_end(struct sbi_kill_request *request, CURLM *multi);

#endif
