#include "file_url.h"

#include "box.h"
#include "error.h"
#include "file_error.h"
#include "ports.h"
#include "text.h"
#include "wire.h"

#include <inttypes.h>
#include <nettle/base64.h>
#include <nettle/sha2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_URL (256u * 1024)

/* Whose file it is, as the request says it; NULL: it says nothing. Servers before 0.4.0 have no
 * default user. */
static const char *name_of(const struct sbi_address *address, const char *user) {
    return user != NULL || sbi_address_has_version(address, 0, 4, 0) ? user : "user";
}

sb_code sbi_file_query(struct sbi_buffer *out, const struct sbi_address *address, const char *path,
                       const char *user) {
    user = name_of(address, user);
    sb_code code = sbi_buffer_append_string(out, "/files?path=");
    if (code == SB_OK) {
        code = sbi_percent_encode(out, path, strlen(path));
    }
    if (code == SB_OK && user != NULL) {
        code = sbi_buffer_append_string(out, "&username=");
        if (code == SB_OK) {
            code = sbi_percent_encode(out, user, strlen(user));
        }
    }
    return code;
}

struct signature {
    struct sha256_ctx hash;
    char text[3 + BASE64_ENCODE_RAW_LENGTH(SHA256_DIGEST_SIZE) + 1];
};

static void add(struct signature *signature, const char *text) {
    sha256_update(&signature->hash, strlen(text), (const uint8_t *)text);
}

/* "v1_" and the base64, without padding, of the SHA-256 of PATH:OPERATION:USER:TOKEN[:EXPIRES]. */
static void sign(struct signature *signature, const char *path, bool write, const char *user,
                 const char *token, const char *expires) {
    uint8_t digest[SHA256_DIGEST_SIZE];
    sha256_init(&signature->hash);
    add(signature, path);
    add(signature, write ? ":write:" : ":read:");
    add(signature, user != NULL ? user : "");
    add(signature, ":");
    add(signature, token);
    if (expires[0] != '\0') {
        add(signature, ":");
        add(signature, expires);
    }
    sha256_digest(&signature->hash, sizeof digest, digest);
    memcpy(signature->text, "v1_", 3);
    base64_encode_raw(signature->text + 3, sizeof digest, digest);
    signature->text[sizeof signature->text - 1] = '\0';
    signature->text[3 + strcspn(signature->text + 3, "=")] = '\0';
}

static sb_code append_signature(struct sbi_buffer *out, const struct sbi_address *address,
                                const char *path, bool write, const char *user, int64_t expires) {
    char number[24] = "";
    struct signature signature;
    if (expires > 0) {
        snprintf(number, sizeof number, "%" PRId64, expires);
    }
    sign(&signature, path, write, name_of(address, user), address->access_token, number);
    sb_code code = sbi_buffer_append_string(out, "&signature=");
    if (code == SB_OK) {
        code = sbi_percent_encode(out, signature.text, strlen(signature.text));
    }
    if (code == SB_OK && expires > 0) {
        code = sbi_buffer_append_string(out, "&signature_expiration=");
    }
    return code == SB_OK ? sbi_buffer_append_string(out, number) : code;
}

static int check(const sb_box *box, const char *path, const char *user, int64_t expires,
                 sb_error *err) {
    if (sbi_file_check_path(path, "path", false, err) != 0) {
        return -1;
    }
    if (box->is_closed) {
        return sbi_fail(err, SB_CLOSED, "the box is closed");
    }
    if (user != NULL && (user[0] == '\0' || strchr(user, ':') != NULL)) {
        return sbi_fail(err, SB_INVALID, "user: not a user's name");
    }
    if (expires < 0) {
        return sbi_fail(err, SB_INVALID, "expires: must be a time");
    }
    if (expires > 0 && box->address.access_token == NULL) {
        return sbi_fail(err, SB_UNSUPPORTED,
                        "expires: the sandbox has no access token to sign with");
    }
    return 0;
}

/* base, then the path of the URL. */
static char *url_of(const sb_box *box, const char *base, const char *path, bool write,
                    const char *user, int64_t expires, sb_error *err) {
    struct sbi_buffer out;
    sbi_buffer_init(&out, MAX_URL);
    sb_code code = sbi_buffer_append_string(&out, base);
    if (code == SB_OK) {
        code = sbi_file_query(&out, &box->address, path, user);
    }
    if (code == SB_OK && box->address.access_token != NULL) {
        code = append_signature(&out, &box->address, path, write, user, expires);
    }
    if (code != SB_OK) {
        sbi_buffer_free(&out);
        sbi_no_memory(err);
        return NULL;
    }
    return sbi_buffer_take(&out);
}

char *sb_file_url_path(sb_box *box, const char *path, bool write, const char *user, int64_t expires,
                       sb_error *err) {
    return check(box, path, user, expires, err) == 0
               ? url_of(box, "", path, write, user, expires, err)
               : NULL;
}

char *sb_file_url(sb_box *box, const char *path, bool write, const char *user, int64_t expires,
                  sb_error *err) {
    if (check(box, path, user, expires, err) != 0) {
        return NULL;
    }
    if (box->config->local) {
        sbi_fail(err, SB_UNSUPPORTED,
                 "no URL names the local engine's socket: forward port %d, or put what "
                 "file_url_path gives behind an address of your own",
                 SBI_PORT_ENVD);
        return NULL;
    }
    if (box->config->sandbox_url != NULL) {
        return url_of(box, box->config->sandbox_url, path, write, user, expires, err);
    }
    char *host = sbi_port_host(box->config, &box->address, SBI_PORT_ENVD, err), *base = NULL;
    if (host != NULL && asprintf(&base, "https://%s", host) < 0) {
        base = NULL;
        sbi_no_memory(err);
    }
    char *url = base != NULL ? url_of(box, base, path, write, user, expires, err) : NULL;
    free(host);
    free(base);
    return url;
}
