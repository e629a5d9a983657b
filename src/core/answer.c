#include "answer.h"

#include "buffer.h"
#include "text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* "body.env_vars.A: Input should be a valid string", for each entry of FastAPI's list. */
static void append_detail(struct sbi_buffer *out, const json_t *entry) {
    const json_t *part;
    size_t index;
    const char *between = out->length > 0 ? "; " : "";
    json_array_foreach(json_object_get(entry, "loc"), index, part) {
        char number[24];
        const char *text = json_string_value(part);
        if (text == NULL) {
            snprintf(number, sizeof number, "%" JSON_INTEGER_FORMAT, json_integer_value(part));
            text = number;
        }
        sbi_buffer_append_string(out, between);
        sbi_buffer_append_string(out, text);
        between = ".";
    }
    const char *message = json_string_value(json_object_get(entry, "msg"));
    if (message != NULL) {
        sbi_buffer_append_string(out, strcmp(between, ".") == 0 ? ": " : between);
        sbi_buffer_append_string(out, message);
    }
}

static bool message_of_json(char *out, size_t size, const char *body, size_t length) {
    json_t *root = json_loadb(body, length, 0, NULL);
    const json_t *message = json_object_get(root, "message");
    const json_t *detail = json_object_get(root, "detail");
    struct sbi_buffer text;
    sbi_buffer_init(&text, 4096); /* what is beyond would not fit a message anyway */
    if (json_is_string(message)) {
        sbi_buffer_append_string(&text, json_string_value(message));
    } else if (json_is_string(detail)) {
        sbi_buffer_append_string(&text, json_string_value(detail));
    } else if (json_is_array(detail)) {
        const json_t *entry;
        size_t index;
        json_array_foreach(detail, index, entry) {
            append_detail(&text, entry);
        }
    }
    bool found = text.length > 0;
    if (found) {
        sbi_text_excerpt(out, size, text.data, text.length);
    }
    sbi_buffer_free(&text);
    json_decref(root);
    return found;
}

static bool is_html(const char *content_type, const char *body, size_t length) {
    return strncasecmp(content_type, "text/html", 9) == 0 || (length > 0 && body[0] == '<');
}

bool sbi_answer_message(char *out, size_t size, const char *content_type, const char *body,
                        size_t length) {
    if (length == 0 || is_html(content_type, body, length)) {
        return false;
    }
    if (message_of_json(out, size, body, length)) {
        return true;
    }
    sbi_text_excerpt(out, size, body, length < 300 ? length : 300);
    return true;
}

/* The id in the gateway's "it is paused". */
static const char *paused_id(int status, const json_t *root) {
    bool is_paused = status >= 400 && json_is_boolean(json_object_get(root, "canAutoResume"));
    return is_paused ? json_string_value(json_object_get(root, "sandboxId")) : NULL;
}

/* The id in the gateway's "no such sandbox": 502 with the id, and no port, which would say that the
 * sandbox runs but nothing listens there. NULL: it is something else. */
static const char *gone_id(int status, const json_t *root) {
    bool is_gone = status == 502 && json_object_get(root, "port") == NULL;
    return is_gone ? json_string_value(json_object_get(root, "sandboxId")) : NULL;
}

bool sbi_answer_is_paused(int status, const char *body, size_t length) {
    json_t *root = json_loadb(body, length, 0, NULL);
    bool is_paused = paused_id(status, root) != NULL;
    json_decref(root);
    return is_paused;
}

static sb_code code_of(int status) {
    switch (status) {
    case 401:
    case 403:
        return SB_UNAUTHORIZED;
    case 404:
    case 410:
        return SB_NOT_FOUND;
    case 408:
        return SB_TIMEOUT;
    case 413:
        return SB_TOO_LARGE;
    case 429:
        return SB_RATE_LIMITED;
    case 501:
        return SB_UNSUPPORTED;
    case 507:
        return SB_NO_SPACE;
    }
    if (status >= 500) {
        return SB_UNAVAILABLE;
    }
    return status >= 400 ? SB_INVALID : SB_PROTOCOL;
}

int sbi_answer_fail(int status, const char *content_type, const char *body, size_t length,
                    sb_error *err) {
    char message[400];
    json_t *root = json_loadb(body, length, 0, NULL);
    const char *paused = paused_id(status, root), *gone = gone_id(status, root);
    if (paused != NULL) {
        sbi_fail_status(err, SB_UNAVAILABLE, status,
                        "HTTP %d: sandbox %.128s is paused: resume it, or connect to it", status,
                        paused);
    } else if (gone != NULL) {
        sbi_fail_status(err, SB_SANDBOX_LOST, status,
                        "HTTP %d: there is no sandbox %.128s (any more)", status, gone);
    } else if (sbi_answer_message(message, sizeof message, content_type, body, length)) {
        sbi_fail_status(err, code_of(status), status, "HTTP %d: %s", status, message);
    } else {
        sbi_fail_status(err, code_of(status), status, "HTTP %d, %s", status,
                        length > 0 ? "with a page of HTML" : "without a message");
    }
    json_decref(root);
    return -1;
}

json_t *sbi_answer_json(int status, const char *body, size_t length, sb_error *err) {
    json_error_t why;
    json_t *root = json_loadb(body, length, 0, &why);
    if (root == NULL) {
        char begin[80];
        sbi_fail_status(err, SB_PROTOCOL, status, "the answer is no JSON, it begins with \"%s\"",
                        sbi_text_excerpt(begin, sizeof begin, body, length));
    }
    return root;
}
