/* files_post.c - POST /files: uploads, written as they come. */
#include "files_access.h"
#include "files_service.h"

#include "json_text.h"
#include "metadata.h"
#include "privileges.h"
#include "upload_body.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct upload {
    http_request *request;
    upload_body *body;
    json_t *metadata;
    files_fault fault;
    struct ev_timer next; /* takes more when others had their turn */
    agent_user user;
};

/* The metadata of headers "X-Metadata-Name: value": the name in lower case, the first of several
 * of one name. */
static void add_metadata(const char *name, const char *value, void *user) {
    static const char prefix[] = "X-Metadata-";
    json_t *metadata = user;
    if (strncasecmp(name, prefix, sizeof prefix - 1) != 0 || !name[sizeof prefix - 1])
        return;
    char *key = strdup(name + sizeof prefix - 1);
    for (char *c = key; c && *c; c++)
        *c = *c >= 'A' && *c <= 'Z' ? (char)(*c | 0x20) : *c;
    if (key && !json_object_get(metadata, key))
        json_object_set_new_nocheck(metadata, key, json_text(value, strlen(value)));
    free(key);
}

static bool is_type(const char *content_type, const char *type) {
    size_t length = strlen(type);
    return strncasecmp(content_type, type, length) == 0 &&
           (content_type[length] == '\0' || strchr("; \t", content_type[length]));
}

/* Everything that can be known at the request's head. */
static int read_head(const struct agent *agent, struct upload *upload) {
    http_request *request = upload->request;
    files_fault *fault = &upload->fault;
    const char *encoding = http_request_header(request, "Content-Encoding"), *why;
    const char *type = http_request_header(request, "Content-Type");
    const char *length = http_request_header(request, "Content-Length");
    char text[200];
    upload_options options = {.agent = agent,
                              .path = http_request_query(request, "path"),
                              .encoding = content_encoding_parse(encoding),
                              .metadata = upload->metadata};
    if (files_access_check(agent, request, "write", fault))
        return -1;
    upload->user = privileges_acting();
    if (options.encoding == CONTENT_UNKNOWN)
        return files_fault_set(fault, 400, "Content-Encoding '%.100s' is not known, gzip is",
                               encoding);
    http_request_each_header(request, add_metadata, upload->metadata);
    if ((why = metadata_fault(upload->metadata, text, sizeof text)))
        return files_fault_set(fault, 400, "%s", why);
    if (type && strncasecmp(type, "multipart/", 10) == 0)
        options.multipart = type;
    else if (!type || !is_type(type, "application/octet-stream"))
        return files_fault_set(fault, 400,
                               "the content type must be application/octet-stream or "
                               "multipart/form-data");
    else if (!options.path)
        return files_fault_set(fault, 400, "the query parameter path is missing");
    else if (options.encoding == CONTENT_IDENTITY && length)
        options.expected = strtoull(length, NULL, 10);
    upload->body = upload_body_new(&options, fault);
    return upload->body ? 0 : -1;
}

static void free_upload(struct upload *upload) {
    ev_timer_stop(http_request_loop(upload->request), &upload->next);
    upload_body_free(upload->body);
    json_decref(upload->metadata);
    free(upload);
}

static void refuse(struct upload *upload) {
    http_request *request = upload->request;
    files_fault fault = upload->fault;
    free_upload(upload);
    files_access_refuse(request, &fault);
}

static size_t take(void *user, const char *bytes, size_t length) {
    struct upload *upload = user;
    privileges_act_as(upload->user); /* a body may have several files */
    long taken = upload_body_feed(upload->body, bytes, length, &upload->fault);
    if (taken < 0) {
        refuse(upload);
        taken = (long)length;
    } else if ((size_t)taken < length) {
        ev_timer_start(http_request_loop(upload->request), &upload->next);
    }
    privileges_act_as(AGENT_USER);
    return (size_t)taken;
}

static void on_next(struct ev_loop *loop, struct ev_timer *timer, int events) {
    (void)loop, (void)events;
    struct upload *upload = timer->data;
    http_body_resume(upload->request);
}

static void finish(void *user) {
    struct upload *upload = user;
    http_request *request = upload->request;
    privileges_act_as(upload->user);
    json_t *entries = upload_body_finish(upload->body, &upload->fault);
    if (entries) {
        free_upload(upload);
        http_reply_json(request, 200, entries);
    } else {
        refuse(upload);
    }
    privileges_act_as(AGENT_USER);
}

static void on_gone(void *user) {
    struct upload *upload = user;
    privileges_act_as(upload->user);
    files_fault_set(&upload->fault, 400, "the client left");
    refuse(upload);
    privileges_act_as(AGENT_USER);
}

void files_post(struct agent *agent, http_request *request) {
    static const http_body functions = {take, finish};
    struct upload *upload = calloc(1, sizeof *upload);
    json_t *metadata = json_object();
    if (!upload || !metadata) {
        free(upload);
        json_decref(metadata);
        agent_reply_error(request, 500, "out of memory");
        return;
    }
    upload->request = request;
    upload->metadata = metadata;
    ev_timer_init(&upload->next, on_next, 0.0, 0.0);
    upload->next.data = upload;
    if (read_head(agent, upload)) {
        refuse(upload);
        return;
    }
    http_request_on_gone(request, on_gone, upload);
    http_request_stream_body(request, &functions, upload);
}
