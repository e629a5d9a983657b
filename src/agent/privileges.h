/*
 * privileges.h - the two users of a sandbox, and how the agent is each of them.
 *
 * Where the sandbox has a range of ids the agent starts as its root, and goes on as `user`: its
 * real uid stays 0, so that `user` cannot signal it, its effective one is `user`'s, and of its
 * capabilities none but that to signal is in effect. It becomes root only for the files of a
 * request that asks for it, and in a child that will run a program. Elsewhere (no range, or a
 * server of its own) the agent is one user, and cannot be another.
 */
#ifndef STEPBOX_PRIVILEGES_H
#define STEPBOX_PRIVILEGES_H

#include <stdbool.h>

typedef enum agent_user { AGENT_USER, AGENT_ROOT } agent_user;

/* At start, by the first process of a sandbox. 0, or -1 with errno. */
int privileges_take(void);
/* Whether AGENT_ROOT can be acted as. */
bool privileges_has_root(void);

/* Whose rights the file system calls of this process have from now on. Whoever sets AGENT_ROOT sets
 * AGENT_USER again before anything else runs. */
void privileges_act_as(agent_user user);
agent_user privileges_acting(void);

/* In a child, for good: `user` keeps no capability and cannot get one; root keeps those that rule
 * the sandbox. 0, or -1 with errno. Resets the signal at the parent's death. */
int privileges_become(agent_user user);

#endif
