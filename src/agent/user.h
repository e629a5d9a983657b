/*
 * user.h - the user that a request names. Everything runs as the agent's own user, whom the
 * official sandboxes call "user"; no other is known.
 */
#ifndef STEPBOX_USER_H
#define STEPBOX_USER_H

#include "http_server.h"

#include <sys/types.h>

/* What to answer when there is no such user. */
#define USER_UNKNOWN "there is no such user in the sandbox"

/* Whether there is a user of that name. NULL and "" are the default one. */
bool user_exists(const char *name);
/* Whether there is the user of "Authorization: Basic base64(name:)". Without one it is the default
 * user. */
bool user_of_request_exists(const http_request *request);

/* Names of owners as files have them, or the numbers as text. */
#define USER_NAME_SIZE 64
void user_name(uid_t id, char text[USER_NAME_SIZE]);
void user_group_name(gid_t id, char text[USER_NAME_SIZE]);

#endif
