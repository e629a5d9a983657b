/*
 * dns_message.h - the little of DNS messages that has to be understood. Foreign bytes: nothing here
 * reads behind the length or follows a compressed name.
 */
#ifndef STEPBOX_DNS_MESSAGE_H
#define STEPBOX_DNS_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DNS_HEADER 12
#define DNS_NAME_MAX 254 /* as text, with its NUL */
#define DNS_TYPE_A 1
#define DNS_TYPE_AAAA 28
#define DNS_REFUSED 5
#define DNS_NAME_ERROR 3

struct dns_question {
    char name[DNS_NAME_MAX]; /* lower case, without the dot at the end; "" is the root */
    uint16_t type;
    size_t end; /* where it ends in the message */
};

/* A query with exactly one question of class IN, whose name consists of letters, digits, "-" and
 * "_". False when it is none. */
bool dns_read_query(const uint8_t *message, size_t length, struct dns_question *question);

uint16_t dns_id(const uint8_t *message);
void dns_set_id(uint8_t *message, uint16_t id);

/* Whether the answer is to this query: the same question, byte for byte. */
bool dns_answers(const uint8_t *answer, size_t length, const uint8_t *query, size_t query_length);

/* Writes an answer to the query: with a code and nothing else, or (code 0) with the IPv4 address,
 * if it is not NULL. `room` must be DNS_HEADER + 300 at least. Returns its length. */
size_t dns_write_answer(const uint8_t *query, const struct dns_question *question, int code,
                        const uint8_t *address, uint8_t *out);

#endif
