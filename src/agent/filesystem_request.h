/*
 * filesystem_request.h - what the calls of filesystem.Filesystem have in common: members of their
 * messages, and errors of the system as Connect's.
 */
#ifndef STEPBOX_FILESYSTEM_REQUEST_H
#define STEPBOX_FILESYSTEM_REQUEST_H

#include "agent.h"

#include <limits.h>
#include <stdint.h>

/* Answers an error: connect_reply_error(), or connect_stream_error() for streaming calls. */
typedef void filesystem_refuse(http_request *request, const char *code, const char *message);

/* The message of a unary call by a user who exists, a new reference; NULL: answered. */
json_t *filesystem_read(http_request *request);

/* The absolute path in a member of the message, to be freed; NULL: answered. */
char *filesystem_path(const struct agent *agent, http_request *request, const json_t *message,
                      const char *name, filesystem_refuse *refuse);

/* A member under either of its JSON names. */
const json_t *filesystem_member(const json_t *message, const char *camel, const char *snake);
/* Absent and null are false or 0. False: it is something else. */
bool filesystem_flag(const json_t *value, bool *flag);
bool filesystem_number(const json_t *value, uint32_t *number);

/* What an error of the system is called by Connect, and in words: "no space left on device". */
const char *filesystem_code(int error);
#define FILESYSTEM_ERROR_SIZE 80
void filesystem_describe(int error, char text[FILESYSTEM_ERROR_SIZE]);

/* Makes "WHAT 'PATH': WHY" of it. */
#define FILESYSTEM_MESSAGE_SIZE (PATH_MAX + 256)
void filesystem_message(char text[FILESYSTEM_MESSAGE_SIZE], const char *what, const char *path,
                        int error);
void filesystem_reply_error(http_request *request, const char *what, const char *path, int error);

#endif
