/* user.c - see user.h */
#include "user.h"

#include "accounts.h"
#include "privileges.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

/* The part of base64(name:password) before the colon; false when it is too long for the room. */
static bool decode_name(const char *encoded, char *name, size_t size) {
    static const char alphabet[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    size_t length = 0;
    unsigned bits = 0, have = 0;
    for (const char *c = encoded, *digit; *c && (digit = strchr(alphabet, *c)); c++) {
        bits = (bits << 6 | (unsigned)(digit - alphabet)) & 0xffff;
        have += 6;
        if (have < 8)
            continue;
        have -= 8;
        char byte = (char)(bits >> have & 0xff);
        if (byte == ':')
            break;
        if (length == size - 1 || byte == '\0')
            return false;
        name[length++] = byte;
    }
    name[length] = '\0';
    return true;
}

const char *user_unknown(void) {
    return privileges_has_root()
               ? "there is no such user in the sandbox: it has \"user\" and \"root\""
               : "there is no such user in the sandbox: it has \"user\" alone. It would have "
                 "\"root\" too if the engine ran as root, or its user had subordinate ids: "
                 "ranges in /etc/subuid and /etc/subgid, and the package \"uidmap\"";
}

bool user_enter(const char *name) {
    char own[USER_NAME_SIZE];
    bool known = !name || !*name || strcmp(name, "user") == 0;
    if (!known && privileges_has_root() && strcmp(name, "root") == 0) {
        privileges_act_as(AGENT_ROOT);
        return true;
    }
    if (!known && account_user_name(geteuid(), own, sizeof own))
        known = strcmp(name, own) == 0;
    privileges_act_as(AGENT_USER);
    return known;
}

bool user_of_request_enter(const http_request *request) {
    const char *header = http_request_header(request, "Authorization");
    char name[USER_NAME_SIZE];
    if (!header || strncasecmp(header, "Basic ", 6) != 0)
        return true;
    header += 6;
    return decode_name(header + strspn(header, " "), name, sizeof name) && user_enter(name);
}

const char *user_home(const struct agent *agent) {
    return privileges_acting() == AGENT_ROOT ? "/root" : agent->home;
}

/* Lists of files ask for the same few owners again and again. */
void user_name(uid_t id, char text[USER_NAME_SIZE]) {
    static char last[USER_NAME_SIZE];
    static uid_t last_id;
    if (!*last || last_id != id) {
        if (!account_user_name(id, last, sizeof last)) {
            if (id == geteuid())
                strcpy(last, "user");
            else
                snprintf(last, sizeof last, "%lu", (unsigned long)id);
        }
        last_id = id;
    }
    memcpy(text, last, sizeof last);
}

void user_group_name(gid_t id, char text[USER_NAME_SIZE]) {
    static char last[USER_NAME_SIZE];
    static gid_t last_id;
    if (!*last || last_id != id) {
        if (!account_group_name(id, last, sizeof last)) {
            if (id == getegid())
                strcpy(last, "user");
            else
                snprintf(last, sizeof last, "%lu", (unsigned long)id);
        }
        last_id = id;
    }
    memcpy(text, last, sizeof last);
}
