/* privileges.c - see privileges.h */
#include "privileges.h"

#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <stdint.h>
#include <sys/fsuid.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* `user`, as the engine maps it; the same number is its group. */
#define USER_ID 1000

#define BIT(capability) (1ull << (capability))
/* What root of a sandbox keeps. None of them reaches beyond the sandbox's namespaces. */
#define ROOT_CAPABILITIES                                                                          \
    (BIT(CAP_CHOWN) | BIT(CAP_DAC_OVERRIDE) | BIT(CAP_FOWNER) | BIT(CAP_FSETID) | BIT(CAP_KILL) |  \
     BIT(CAP_SETGID) | BIT(CAP_SETUID) | BIT(CAP_SETFCAP) | BIT(CAP_NET_BIND_SERVICE) |            \
     BIT(CAP_SYS_CHROOT))

static bool has_root;
static agent_user acting = AGENT_USER;
static uint64_t permitted;

static int set_capabilities(uint64_t effective, uint64_t allowed) {
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[2] = {
        {.effective = (uint32_t)effective, .permitted = (uint32_t)allowed},
        {.effective = (uint32_t)(effective >> 32), .permitted = (uint32_t)(allowed >> 32)}};
    return (int)syscall(SYS_capset, &header, data);
}

static int get_permitted(uint64_t *allowed) {
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[2] = {{0}};
    if (syscall(SYS_capget, &header, data) < 0)
        return -1;
    *allowed = (uint64_t)data[1].permitted << 32 | data[0].permitted;
    return 0;
}

/* Nothing else can come back with a program. Needs CAP_SETPCAP. */
static int bound_to(uint64_t kept) {
    for (int capability = 0; capability < 64; capability++) {
        if (kept & BIT(capability))
            continue;
        if (prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) < 0)
            return errno == EINVAL ? 0 : -1; /* behind the kernel's last */
    }
    return 0;
}

int privileges_take(void) {
    gid_t groups[] = {USER_ID};
    if (getuid() != 0)
        return 0;
    if (get_permitted(&permitted) < 0 || bound_to(permitted) < 0 ||
        prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) < 0 || setgroups(1, groups) < 0 ||
        setresgid(0, USER_ID, 0) < 0 || setresuid(0, USER_ID, 0) < 0 ||
        set_capabilities(BIT(CAP_KILL) & permitted, permitted) < 0)
        return -1;
    has_root = true;
    return 0;
}

bool privileges_has_root(void) {
    return has_root;
}

void privileges_act_as(agent_user user) {
    if (!has_root || user == acting)
        return;
    acting = user;
    /* With the uid the kernel gives and takes the capabilities that are about files. */
    uid_t id = user == AGENT_ROOT ? 0 : USER_ID;
    setfsgid(id);
    setfsuid(id);
}

agent_user privileges_acting(void) {
    return acting;
}

int privileges_become(agent_user user) {
    uid_t id = user == AGENT_ROOT ? 0 : USER_ID;
    uint64_t kept = user == AGENT_ROOT ? ROOT_CAPABILITIES & permitted : 0;
    gid_t groups[] = {id};
    if (!has_root)
        return 0;
    if (set_capabilities(permitted, permitted) < 0 || bound_to(kept) < 0 ||
        setgroups(1, groups) < 0 || setresgid(id, id, id) < 0 || setresuid(id, id, id) < 0)
        return -1;
    return set_capabilities(kept, kept);
}
