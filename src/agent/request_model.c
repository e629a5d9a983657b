/* request_model.c - see request_model.h */
#include "request_model.h"

#include "environment.h"
#include "json_scan.h"

#include <string.h>
#include <strings.h>

static void reply_details(http_request *request, json_t *details) {
    http_reply_json(request, 422, json_pack("{s:o}", "detail", details));
}

/* Takes the references to loc and input. */
static json_t *detail(const char *type, json_t *loc, const char *message, json_t *input) {
    return json_pack("{s:s, s:o, s:s, s:o}", "type", type, "loc", loc, "msg", message, "input",
                     input);
}

static void reply_detail(http_request *request, json_t *entry) {
    reply_details(request, json_pack("[o]", entry));
}

static void reply_not_an_object(http_request *request, json_t *input) {
    reply_detail(request, detail("model_attributes_type", json_pack("[s]", "body"),
                                 "Input should be a valid dictionary or object to extract fields "
                                 "from",
                                 input));
}

/* No content type counts as JSON. */
static bool is_json(const char *content_type) {
    if (!content_type)
        return true;
    size_t length = strcspn(content_type, "; \t");
    return (length == 16 && strncasecmp(content_type, "application/json", 16) == 0) ||
           (length > 17 && strncasecmp(content_type, "application/", 12) == 0 &&
            strncasecmp(content_type + length - 5, "+json", 5) == 0);
}

static json_t *read_body(http_request *request) {
    size_t length, position;
    json_error_t error;
    const char *text = http_request_body(request, &length);
    json_t *as_text = json_stringn(text, length);
    if (!as_text) {
        http_reply_json(request, 400,
                        json_pack("{s:s}", "detail", "There was an error parsing the body"));
        return NULL;
    }
    if (length && !is_json(http_request_header(request, "Content-Type"))) {
        reply_not_an_object(request, as_text);
        return NULL;
    }
    json_decref(as_text);
    json_t *body =
        length ? json_loadb(text, length, JSON_DECODE_ANY | JSON_ALLOW_NUL, &error) : json_null();
    if (!body) {
        const char *fault = json_fault(text, length, &position);
        if (!fault) { /* what Python takes and we do not, such as half of a surrogate pair */
            fault = error.text;
            position = (size_t)error.position;
        }
        json_t *entry = detail("json_invalid", json_pack("[s, I]", "body", (json_int_t)position),
                               "JSON decode error", json_object());
        if (entry)
            json_object_set_new(entry, "ctx", json_pack("{s:s}", "error", fault));
        reply_detail(request, entry);
        return NULL;
    }
    if (json_is_object(body))
        return body;
    if (json_is_null(body))
        reply_detail(request, detail("missing", json_pack("[s]", "body"), "Field required", body));
    else
        reply_not_an_object(request, body);
    return NULL;
}

static void check_envs(const char *field, json_t *envs, json_t *details) {
    const char *name, *fault;
    json_t *value;
    json_object_foreach(envs, name, value) {
        json_t *loc = json_pack("[s, s, s]", "body", field, name);
        if (!json_is_string(value))
            json_array_append_new(
                details,
                detail("string_type", loc, "Input should be a valid string", json_incref(value)));
        else if ((fault = environment_fault(name, value)))
            json_array_append_new(details, detail("value_error", loc, fault, json_incref(value)));
        else
            json_decref(loc);
    }
}

static void check_field(json_t *body, const model_field *field, json_t *details) {
    json_t *value = json_object_get(body, field->name);
    if ((!value || json_is_null(value)) && field->kind != MODEL_STRING)
        return;
    json_t *loc = json_pack("[s, s]", "body", field->name);
    if (!value) {
        json_array_append_new(details, detail("missing", loc, "Field required", json_incref(body)));
    } else if (field->kind == MODEL_OPTIONAL_ENVS && json_is_object(value)) {
        json_decref(loc);
        check_envs(field->name, value, details);
    } else if (field->kind == MODEL_OPTIONAL_ENVS) {
        json_array_append_new(
            details,
            detail("dict_type", loc, "Input should be a valid dictionary", json_incref(value)));
    } else if (!json_is_string(value)) {
        json_array_append_new(details, detail("string_type", loc, "Input should be a valid string",
                                              json_incref(value)));
    } else {
        json_decref(loc);
    }
}

json_t *model_read(http_request *request, const model_field *fields) {
    json_t *body = read_body(request);
    if (!body)
        return NULL;
    json_t *details = json_array();
    for (; fields->name; fields++)
        check_field(body, fields, details);
    if (json_array_size(details) == 0) {
        json_decref(details);
        return body;
    }
    reply_details(request, details);
    json_decref(body);
    return NULL;
}

const char *model_string(const json_t *body, const char *name) {
    const char *text = json_string_value(json_object_get(body, name));
    return text ? text : "";
}
