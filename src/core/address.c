#include "address.h"

#include "error.h"
#include "text.h"

#include <stdlib.h>
#include <string.h>

/* Copies a member that may be absent or null. */
static int copy_member(char **to, const json_t *answer, const char *name,
                       bool (*is_good)(const char *), sb_error *err) {
    const json_t *value = json_object_get(answer, name);
    if (value == NULL || json_is_null(value)) {
        return 0;
    }
    const char *text = json_string_value(value);
    if (text == NULL || (text[0] != '\0' && !is_good(text))) {
        return sbi_fail(err, SB_PROTOCOL, "the server's answer has a %s that cannot be one", name);
    }
    if (text[0] == '\0') {
        return 0;
    }
    *to = strdup(text);
    return *to != NULL ? 0 : sbi_no_memory(err);
}

int sbi_address_parse(struct sbi_address *address, const json_t *answer, sb_error *err) {
    *address = (struct sbi_address){0};
    if (copy_member(&address->id, answer, "sandboxID", sbi_is_sandbox_id, err) != 0 ||
        copy_member(&address->domain, answer, "domain", sbi_is_domain, err) != 0 ||
        copy_member(&address->access_token, answer, "envdAccessToken", sbi_is_header_value, err) !=
            0 ||
        copy_member(&address->traffic_token, answer, "trafficAccessToken", sbi_is_header_value,
                    err) != 0 ||
        copy_member(&address->version, answer, "envdVersion", sbi_is_header_value, err) != 0) {
        sbi_address_free(address);
        return -1;
    }
    if (address->id == NULL) {
        sbi_address_free(address);
        return sbi_fail(err, SB_PROTOCOL, "the server's answer names no sandboxID");
    }
    return 0;
}

void sbi_address_free(struct sbi_address *address) {
    free(address->id);
    free(address->domain);
    free(address->access_token);
    free(address->traffic_token);
    free(address->version);
    *address = (struct sbi_address){0};
}

bool sbi_address_has_version(const struct sbi_address *address, int major, int minor, int patch) {
    const int wanted[3] = {major, minor, patch};
    const char *at = address->version;
    if (at == NULL) {
        return false;
    }
    at += *at == 'v';
    for (int i = 0; i < 3; i++) {
        char *end;
        long part = strtol(at, &end, 10);
        if (end == at) {
            return false;
        }
        if (part != wanted[i]) {
            return part > wanted[i];
        }
        at = *end == '.' ? end + 1 : end;
    }
    return true;
}
