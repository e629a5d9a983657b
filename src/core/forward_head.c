#include "forward_head.h"

#include <string.h>
#include <strings.h>

/* A piece of the head; not NUL-terminated. */
struct piece {
    const char *at;
    size_t length;
};

static bool is_alnum(char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_token(struct piece piece) {
    for (size_t i = 0; i < piece.length; i++) {
        char c = piece.at[i];
        if (!is_alnum(c) && (c == '\0' || strchr("!#$%&'*+-.^_`|~", c) == NULL)) {
            return false;
        }
    }
    return piece.length > 0;
}

static bool equals(struct piece piece, const char *word) {
    return piece.length == strlen(word) && strncasecmp(piece.at, word, piece.length) == 0;
}

/* Takes the next line, without its CR LF. Within a head there is one, the empty one at its end. */
static struct piece next_line(struct piece *rest) {
    const char *end = memmem(rest->at, rest->length, "\r\n", 2);
    struct piece line = {rest->at, (size_t)(end - rest->at)};
    rest->at = end + 2;
    rest->length -= line.length + 2;
    return line;
}

/* Whether a list, separated by commas, has the word. */
static bool lists(struct piece list, const char *word) {
    while (list.length > 0) {
        const char *comma = memchr(list.at, ',', list.length);
        struct piece item = {list.at, comma != NULL ? (size_t)(comma - list.at) : list.length};
        size_t taken = item.length + (comma != NULL ? 1 : 0);
        while (item.length > 0 && (item.at[0] == ' ' || item.at[0] == '\t')) {
            item.at++;
            item.length--;
        }
        while (item.length > 0 &&
               (item.at[item.length - 1] == ' ' || item.at[item.length - 1] == '\t')) {
            item.length--;
        }
        if (equals(item, word)) {
            return true;
        }
        list.at += taken;
        list.length -= taken;
    }
    return false;
}

struct request_line {
    struct piece method, target, version;
};

static bool read_request_line(struct piece line, struct request_line *request) {
    const char *first = memchr(line.at, ' ', line.length);
    const char *last = memrchr(line.at, ' ', line.length);
    if (first == NULL || last <= first + 1) {
        return false;
    }
    request->method = (struct piece){line.at, (size_t)(first - line.at)};
    request->target = (struct piece){first + 1, (size_t)(last - first) - 1};
    request->version = (struct piece){last + 1, line.length - (size_t)(last + 1 - line.at)};
    for (size_t i = 0; i < request->target.length; i++) {
        unsigned char c = (unsigned char)request->target.at[i];
        if (c <= ' ' || c == 0x7f) {
            return false;
        }
    }
    /* CONNECT asks for a proxy, which this is not. */
    return is_token(request->method) && !equals(request->method, "CONNECT") &&
           (equals(request->version, "HTTP/1.1") || equals(request->version, "HTTP/1.0"));
}

static bool read_header(struct piece line, struct piece *name, struct piece *value) {
    const char *colon = memchr(line.at, ':', line.length);
    if (colon == NULL) {
        return false;
    }
    *name = (struct piece){line.at, (size_t)(colon - line.at)};
    *value = (struct piece){colon + 1, line.length - name->length - 1};
    for (size_t i = 0; i < value->length; i++) {
        unsigned char c = (unsigned char)value->at[i];
        if ((c < ' ' && c != '\t') || c == 0x7f) {
            return false;
        }
    }
    return is_token(*name);
}

/* Looks at all headers. false when one is none. */
static bool check_headers(struct piece rest, bool *upgrade) {
    bool has_upgrade = false, connection_upgrades = false;
    struct piece line, name, value;
    while ((line = next_line(&rest)).length > 0) {
        if (!read_header(line, &name, &value)) {
            return false;
        }
        has_upgrade |= equals(name, "Upgrade");
        connection_upgrades |= equals(name, "Connection") && lists(value, "upgrade");
    }
    *upgrade = has_upgrade && connection_upgrades;
    return true;
}

/* Headers that are ours to set, or speak of the client's connection with us. */
static bool is_replaced(struct piece name, bool upgrade) {
    static const char *const always[] = {
        "Host",           "Keep-Alive",       "Proxy-Connection",
        "E2b-Sandbox-Id", "E2b-Sandbox-Port", "E2b-Traffic-Access-Token"};
    for (size_t i = 0; i < sizeof always / sizeof *always; i++) {
        if (equals(name, always[i])) {
            return true;
        }
    }
    return !upgrade && (equals(name, "Connection") || equals(name, "Upgrade"));
}

static sb_code append(struct sbi_buffer *out, struct piece piece) {
    return sbi_buffer_append(out, piece.at, piece.length);
}

/* The path of a target, also of one that names a host ("http://127.0.0.1:8000/path"). */
static struct piece path_of(struct piece target) {
    const char *scheme = memmem(target.at, target.length, "://", 3);
    if (target.at[0] == '/' || scheme == NULL) {
        return target;
    }
    size_t skipped = (size_t)(scheme + 3 - target.at);
    struct piece rest = {target.at + skipped, target.length - skipped};
    const char *slash = memchr(rest.at, '/', rest.length);
    if (slash == NULL) {
        return (struct piece){"/", 1};
    }
    return (struct piece){slash, rest.length - (size_t)(slash - rest.at)};
}

static sb_code write_head(const struct request_line *request, struct piece rest, bool upgrade,
                          const struct sbi_forward_rules *rules, struct sbi_buffer *out) {
    struct piece path = path_of(request->target);
    sb_code failure = append(out, request->method);
    failure |= sbi_buffer_append_string(out, " ");
    if (path.at[0] == '/') {
        failure |= sbi_buffer_append_string(out, rules->prefix);
    }
    failure |= append(out, path);
    failure |= sbi_buffer_append_string(out, " ");
    failure |= append(out, request->version);
    failure |= sbi_buffer_append_string(out, "\r\nHost: ");
    failure |= sbi_buffer_append_string(out, rules->host);
    failure |= sbi_buffer_append_string(out, "\r\n");
    failure |= sbi_buffer_append_string(out, rules->lines);
    struct piece line, name, value;
    while ((line = next_line(&rest)).length > 0) {
        read_header(line, &name, &value);
        if (!is_replaced(name, upgrade)) {
            failure |= append(out, line);
            failure |= sbi_buffer_append_string(out, "\r\n");
        }
    }
    failure |= sbi_buffer_append_string(out, upgrade ? "\r\n" : "Connection: close\r\n\r\n");
    return failure;
}

enum sbi_forward_head_result sbi_forward_head_rewrite(const char *bytes, size_t length,
                                                      const struct sbi_forward_rules *rules,
                                                      struct sbi_buffer *out, size_t *used,
                                                      bool *upgrade) {
    const char *end = memmem(bytes, length, "\r\n\r\n", 4);
    size_t head = end != NULL ? (size_t)(end - bytes) + 4 : length;
    if (head > SBI_FORWARD_HEAD_MAX || memmem(bytes, head, "\n\n", 2) != NULL) {
        return SBI_FORWARD_HEAD_BAD;
    }
    if (end == NULL) {
        return SBI_FORWARD_HEAD_MORE;
    }
    struct piece rest = {bytes, head};
    struct request_line request;
    if (!read_request_line(next_line(&rest), &request) || !check_headers(rest, upgrade) ||
        write_head(&request, rest, *upgrade, rules, out) != SB_OK) {
        return SBI_FORWARD_HEAD_BAD;
    }
    *used = head;
    return SBI_FORWARD_HEAD_DONE;
}
