/*
 * user.h - the user that a request names: the default one, whom the official sandboxes call "user",
 * or root where the sandbox has one.
 */
#ifndef STEPBOX_USER_H
#define STEPBOX_USER_H

#include "agent.h"
#include "http_server.h"

#include <sys/types.h>

/* What to answer when there is no such user. */
const char *user_unknown(void);

/* Acts as the user of that name (privileges_act_as); the HTTP server's next call of ours ends that.
 * NULL and "" are the default one. False, and nothing is changed, when there is none. */
bool user_enter(const char *name);
/* The same for the user of "Authorization: Basic base64(name:)". Without one it is the default
 * user. */
bool user_of_request_enter(const http_request *request);

/* Where the files of whom the agent acts as are. */
const char *user_home(const struct agent *agent);

/* Names of owners as files have them, or the numbers as text. */
#define USER_NAME_SIZE 64
void user_name(uid_t id, char text[USER_NAME_SIZE]);
void user_group_name(gid_t id, char text[USER_NAME_SIZE]);

#endif
