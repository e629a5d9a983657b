#include "context_fault.h"

#include "answer.h"
#include "text.h"

#include <string.h>

#define REFUSAL "Failed to create context"

/* What stands behind the refusal: JSON with a message, or plain text. */
static void reason_of(const char *body, char *out, size_t size) {
    const char *reason = body + strlen(REFUSAL);
    reason += strspn(reason, ": ");
    json_t *root = json_loads(reason, 0, NULL);
    const char *message = json_string_value(json_object_get(root, "message"));
    if (message == NULL) {
        message = reason[0] != '\0' ? reason : body;
    }
    sbi_text_excerpt(out, size, message, strlen(message));
    json_decref(root);
}

int sbi_context_check(const struct sbi_exchange *exchange, sb_error *err) {
    char reason[400];
    const char *body = sbi_buffer_string(&exchange->answer);
    bool is_refused = exchange->error.code == SB_OK && exchange->status >= 400 &&
                      strncmp(body, REFUSAL, strlen(REFUSAL)) == 0;
    /* A sandbox that has no room just now says so with the same words. */
    if (!is_refused || exchange->status == 503) {
        return sbi_exchange_check(exchange, err);
    }
    reason_of(body, reason, sizeof reason);
    return sbi_fail_status(err, SB_UNSUPPORTED, exchange->status, "%s", reason);
}
