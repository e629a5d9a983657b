/*
 * answer.h - what a server's answer means: which error a status and its body stand for, and JSON.
 */
#ifndef STEPBOX_CORE_ANSWER_H
#define STEPBOX_CORE_ANSWER_H

#include "error.h"

#include <jansson.h>

/* The error that a status which is no success stands for. Understands JSON {"message"} and
 * {"detail"} bodies, plain text, pages of HTML, and no body. Always -1. */
int sbi_answer_fail(int status, const char *content_type, const char *body, size_t length,
                    sb_error *err);

/* Whether the answer says that the sandbox is paused. */
bool sbi_answer_is_paused(int status, const char *body, size_t length);

/* The message in a body as above, or false when it has none that a person would want to read. */
bool sbi_answer_message(char *out, size_t size, const char *content_type, const char *body,
                        size_t length);

/* Parses a JSON answer; NULL with SB_PROTOCOL. */
json_t *sbi_answer_json(int status, const char *body, size_t length, sb_error *err);

#endif
