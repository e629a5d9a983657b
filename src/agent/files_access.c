/* files_access.c - see files_access.h */
#include "files_access.h"

#include "json_text.h"
#include "metadata.h"
#include "path.h"
#include "signature.h"
#include "user.h"

#include <string.h>
#include <time.h>

static const char *query_or_empty(const http_request *request, const char *name) {
    const char *value = http_request_query(request, name);
    return value ? value : "";
}

static int check_signature(const struct agent *agent, const http_request *request,
                           const char *operation, files_fault *fault) {
    const char *signature = http_request_query(request, "signature");
    const char *expiration = http_request_query(request, "signature_expiration");
    signature_subject subject = {.path = query_or_empty(request, "path"),
                                 .operation = operation,
                                 .user = query_or_empty(request, "username"),
                                 .expires = expiration != NULL};
    if (!signature)
        return files_fault_set(fault, 401, "the access token or a signature is missing");
    if (expiration && !signature_read_expiration(expiration, &subject.expiration))
        return files_fault_set(fault, 400, "signature_expiration is not a whole number of seconds");
    if (!signature_matches(signature, &subject, agent->access_token))
        return files_fault_set(fault, 401, "the signature is not right for this request");
    if (expiration && subject.expiration < time(NULL))
        return files_fault_set(fault, 401, "signature is already expired");
    return 0;
}

int files_access_check(const struct agent *agent, const http_request *request,
                       const char *operation, files_fault *fault) {
    const char *token = http_request_header(request, "X-Access-Token");
    const char *name = query_or_empty(request, "username");
    bool is_signed = false;
    if (agent->access_token && token && *token) {
        if (!agent_token_matches(agent, token))
            return files_fault_set(fault, 401, "the access token is wrong");
    } else if (agent->access_token) {
        if (check_signature(agent, request, operation, fault))
            return -1;
        is_signed = true;
    }
    /* What is signed is for the user of its query; a header is not signed. */
    if (is_signed || *name ? !user_enter(name) : !user_of_request_enter(request))
        return files_fault_set(fault, 401, "%s", user_unknown());
    return 0;
}

char *files_access_path(const struct agent *agent, const char *path, size_t length,
                        files_fault *fault) {
    const char *why;
    char *resolved = path_resolve(agent, path, length, &why);
    if (!resolved)
        files_fault_set(fault, 400, "%s", why);
    return resolved;
}

json_t *files_access_entry(const char *path, bool with_metadata) {
    size_t length;
    const char *name = path_name(path, &length);
    return json_pack("{s:o, s:o, s:s, s:o*}", "path", json_text(path, strlen(path)), "name",
                     json_text(name, length), "type", "file", "metadata",
                     with_metadata ? metadata_read(path) : NULL);
}

void files_access_refuse(http_request *request, const files_fault *fault) {
    if (fault->status == 401)
        http_reply_to_stranger(request);
    agent_reply_error(request, fault->status, fault->message);
}
