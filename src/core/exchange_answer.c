/* exchange_answer.c - what a server answers: its head, its body, and what they say. */
#include "exchange.h"

#include "answer.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define MAX_HEADER_VALUE 4096

/* The value of a header line when it has this name, else NULL. */
static const char *header_value(const char *line, size_t length, const char *name, size_t *size) {
    size_t name_length = strlen(name);
    if (length <= name_length || strncasecmp(line, name, name_length) != 0 ||
        line[name_length] != ':') {
        return NULL;
    }
    const char *value = line + name_length + 1, *end = line + length;
    while (value < end && (*value == ' ' || *value == '\t')) {
        value++;
    }
    while (end > value && (end[-1] == '\r' || end[-1] == '\n' || end[-1] == ' ')) {
        end--;
    }
    *size = (size_t)(end - value);
    return value;
}

/* A status line begins a new answer: those before were interim. */
static void begin_answer(struct sbi_exchange *exchange, const char *line, size_t length) {
    const char *space = memchr(line, ' ', length);
    exchange->status = 0;
    for (const char *digit = space; digit != NULL && ++digit < line + length;) {
        if (*digit < '0' || *digit > '9' || exchange->status > 99) {
            break;
        }
        exchange->status = exchange->status * 10 + (*digit - '0');
    }
    exchange->is_framed = strncmp(line, "HTTP/1", 6) != 0;
    exchange->has_head = false;
    exchange->content_type[0] = exchange->content_range[0] = '\0';
}

static void keep_value(char *kept, size_t size, const char *value, size_t length) {
    if (length >= size) {
        length = size - 1;
    }
    memcpy(kept, value, length);
    kept[length] = '\0';
}

void sbi_exchange_take_header(struct sbi_exchange *exchange, const char *line, size_t length) {
    size_t value_length;
    const char *value;
    if (length >= 5 && strncmp(line, "HTTP/", 5) == 0) {
        begin_answer(exchange, line, length);
    } else if ((value = header_value(line, length, "content-type", &value_length)) != NULL) {
        keep_value(exchange->content_type, sizeof exchange->content_type, value, value_length);
    } else if ((value = header_value(line, length, "content-range", &value_length)) != NULL) {
        keep_value(exchange->content_range, sizeof exchange->content_range, value, value_length);
    } else if (header_value(line, length, "content-length", &value_length) != NULL ||
               header_value(line, length, "transfer-encoding", &value_length) != NULL) {
        exchange->is_framed = true;
    } else if ((value = header_value(line, length, "x-next-token", &value_length)) != NULL &&
               value_length > 0 && value_length <= MAX_HEADER_VALUE) {
        free(exchange->next_token);
        exchange->next_token = strndup(value, value_length);
    } else if (length <= 2 && exchange->status >= 200) {
        exchange->has_head = true;
        if (exchange->timeout_ends_at_answer) {
            sbi_loop_unset_timer(exchange->loop, &exchange->deadline);
        }
    }
}

int sbi_exchange_keep(struct sbi_exchange *exchange, const char *bytes, size_t length) {
    size_t kept = length;
    if (exchange->status < 200 || exchange->status > 299) {
        size_t room = exchange->answer.length < SBI_MAX_COMPLAINT
                          ? SBI_MAX_COMPLAINT - exchange->answer.length
                          : 0;
        kept = kept < room ? kept : room;
    }
    sb_code code = sbi_buffer_append(&exchange->answer, bytes, kept);
    if (code == SB_TOO_LARGE) {
        sbi_fail_status(&exchange->error, code, exchange->status,
                        "the answer has more than %zu bytes", exchange->answer.max);
    } else if (code != SB_OK) {
        sbi_no_memory(&exchange->error);
    }
    return code == SB_OK ? 0 : -1;
}

int sbi_exchange_check(const struct sbi_exchange *exchange, sb_error *err) {
    if (exchange->error.code != SB_OK) {
        return sbi_fail_status(err, exchange->error.code, exchange->error.status, "%s",
                               exchange->error.message);
    }
    if (exchange->status >= 200 && exchange->status <= 299) {
        return 0;
    }
    return sbi_answer_fail(exchange->status, exchange->content_type,
                           sbi_buffer_string(&exchange->answer), exchange->answer.length, err);
}

json_t *sbi_exchange_json(const struct sbi_exchange *exchange, sb_error *err) {
    if (sbi_exchange_check(exchange, err) != 0) {
        return NULL;
    }
    return sbi_answer_json(exchange->status, sbi_buffer_string(&exchange->answer),
                           exchange->answer.length, err);
}
