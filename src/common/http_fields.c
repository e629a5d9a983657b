/* http_fields.c - the query parameters and headers of a request. */
#include "http_internal.h"

#include <string.h>

const char *http_request_query(const http_request *request, const char *name) {
    if (!request->conn)
        return NULL;
    const char *value = NULL;
    if (MHD_lookup_connection_value_n(request->conn, MHD_GET_ARGUMENT_KIND, name, strlen(name),
                                      &value, NULL) != MHD_YES)
        return NULL;
    return value ? value : "";
}

struct each {
    http_each *fn;
    void *user;
};

static enum MHD_Result pass(void *user, enum MHD_ValueKind kind, const char *name,
                            const char *value) {
    (void)kind;
    struct each *each = user;
    each->fn(name, value ? value : "", each->user);
    return MHD_YES;
}

void http_request_each_query(http_request *request, http_each *fn, void *user) {
    if (request->conn)
        MHD_get_connection_values(request->conn, MHD_GET_ARGUMENT_KIND, pass,
                                  &(struct each){fn, user});
}

void http_request_each_header(http_request *request, http_each *fn, void *user) {
    if (request->conn)
        MHD_get_connection_values(request->conn, MHD_HEADER_KIND, pass, &(struct each){fn, user});
}

const char *http_request_header(const http_request *request, const char *name) {
    return request->conn ? MHD_lookup_connection_value(request->conn, MHD_HEADER_KIND, name) : NULL;
}
