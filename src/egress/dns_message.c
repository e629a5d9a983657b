#include "dns_message.h"

#include <string.h>

#define FLAG_RESPONSE 0x80 /* of the third byte */
#define OPCODE_MASK 0x78
#define FLAG_RECURSION 0x01 /* wanted */
#define ANSWER_SECONDS 60

static uint16_t number(const uint8_t *at) {
    return (uint16_t)(at[0] << 8 | at[1]);
}

static void put(uint8_t *at, uint16_t value) {
    at[0] = (uint8_t)(value >> 8);
    at[1] = (uint8_t)value;
}

uint16_t dns_id(const uint8_t *message) {
    return number(message);
}

void dns_set_id(uint8_t *message, uint16_t id) {
    put(message, id);
}

/* Adds a label to the name; false when it has other characters than names of hosts. */
static bool add_label(char *name, size_t *used, const uint8_t *label, size_t length) {
    if (*used + length + 2 > DNS_NAME_MAX)
        return false;
    if (*used > 0)
        name[(*used)++] = '.';
    for (size_t i = 0; i < length; i++) {
        char c = (char)label[i];
        if (c >= 'A' && c <= 'Z')
            c = (char)(c - 'A' + 'a');
        if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_'))
            return false;
        name[(*used)++] = c;
    }
    name[*used] = '\0';
    return true;
}

bool dns_read_query(const uint8_t *message, size_t length, struct dns_question *question) {
    if (length < DNS_HEADER || (message[2] & (FLAG_RESPONSE | OPCODE_MASK)) != 0 ||
        number(message + 4) != 1 || number(message + 6) != 0 || number(message + 8) != 0)
        return false;
    size_t at = DNS_HEADER, used = 0;
    question->name[0] = '\0';
    for (;;) {
        if (at >= length)
            return false;
        size_t label = message[at++];
        if (label == 0)
            break;
        /* 64 and more is a pointer, or nothing known. */
        if (label > 63 || label > length - at ||
            !add_label(question->name, &used, message + at, label))
            return false;
        at += label;
    }
    if (length - at < 4 || number(message + at + 2) != 1)
        return false;
    question->type = number(message + at);
    question->end = at + 4;
    return true;
}

bool dns_answers(const uint8_t *answer, size_t length, const uint8_t *query, size_t query_length) {
    struct dns_question question;
    if (!dns_read_query(query, query_length, &question) || length < question.end ||
        (answer[2] & FLAG_RESPONSE) == 0 || number(answer + 4) != 1)
        return false;
    return memcmp(answer + DNS_HEADER, query + DNS_HEADER, question.end - DNS_HEADER) == 0;
}

size_t dns_write_answer(const uint8_t *query, const struct dns_question *question, int code,
                        const uint8_t *address, uint8_t *out) {
    memcpy(out, query, question->end);
    out[2] = (uint8_t)(FLAG_RESPONSE | (query[2] & FLAG_RECURSION));
    out[3] = (uint8_t)(0x80 | code); /* recursion is available */
    memset(out + 6, 0, 6);
    if (code != 0 || !address)
        return question->end;
    put(out + 6, 1);
    uint8_t *record = out + question->end;
    put(record, 0xc000 | DNS_HEADER); /* the name of the question */
    put(record + 2, DNS_TYPE_A);
    put(record + 4, 1);
    put(record + 6, 0);
    put(record + 8, ANSWER_SECONDS);
    put(record + 10, 4);
    memcpy(record + 12, address, 4);
    return question->end + 16;
}
