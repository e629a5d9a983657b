#include "kill_request.h"

#include "wire.h"

#include <errno.h>
#include <stdio.h>

static size_t drop(char *bytes, size_t size, size_t count, void *user) {
    (void)bytes;
    (void)user;
    return size * count;
}

int sbi_kill_request_start(struct sbi_kill_request *request, CURLM *multi,
                           struct sbi_config *config, const char *id, double timeout, void *user) {
    char path[160];
    snprintf(path, sizeof path, "/sandboxes/%s", id);
    *request = (struct sbi_kill_request){.easy = curl_easy_init()};
    CURL *easy = request->easy;
    if (easy == NULL || sbi_wire_control(config, path, easy, &request->headers, NULL) != 0) {
        sbi_kill_request_end(request, multi);
        return -1;
    }
    sbi_wire_transport(config, easy);
    sbi_dial_apply(&request->dial, config, easy);
    curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, "DELETE");
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, request->headers);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, drop);
    curl_easy_setopt(easy, CURLOPT_PRIVATE, user);
    curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, (long)(timeout * 1000));
    /* An idle connection would make a local engine believe that it has a client. */
    curl_easy_setopt(easy, CURLOPT_FORBID_REUSE, 1L);
    if (curl_multi_add_handle(multi, easy) != CURLM_OK) {
        sbi_kill_request_end(request, multi);
        return -1;
    }
    return 0;
}

bool sbi_kill_request_settled(struct sbi_kill_request *request, CURLcode result) {
    long status = 0;
    if (result != CURLE_OK) {
        /* Without an engine there is no local sandbox any more. */
        sbi_dial_explain(&request->dial, result);
        int failure = request->dial.failure;
        return failure == ENOENT || failure == ECONNREFUSED;
    }
    curl_easy_getinfo(request->easy, CURLINFO_RESPONSE_CODE, &status);
    return status < 500 && status != 408 && status != 429;
}

void sbi_kill_request_end(struct sbi_kill_request *request, CURLM *multi) {
    if (request->easy != NULL) {
        curl_multi_remove_handle(multi, request->easy);
        curl_easy_cleanup(request->easy);
    }
    curl_slist_free_all(request->headers);
    *request = (struct sbi_kill_request){0};
}
