#include "route.h"

#include <string.h>
#include <strings.h>

/* A piece of the head; not NUL-terminated. */
struct text {
    const char *at;
    size_t length;
};

/* The request line's method and target, and the headers that matter, each allowed once (but
 * Connection and Upgrade, which are lists). */
struct head {
    struct text method, target;
    struct text host, sandbox_id, sandbox_port, content_length, transfer_encoding, api_key,
        traffic_token;
    bool has_upgrade, connection_upgrades; /* Upgrade: ..., and Connection: upgrade */
};

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

static bool is_alnum(char c) {
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* RFC 9110: tchar */
static bool is_token_char(char c) {
    return is_alnum(c) || (c && strchr("!#$%&'*+-.^_`|~", c));
}

/* Visible ASCII, and bytes over it, which some clients send. */
static bool is_field_char(char c) {
    unsigned char u = (unsigned char)c;
    return u >= 0x80 || (u >= ' ' && u < 0x7f) || u == '\t';
}

static bool equals(struct text text, const char *word) {
    return text.length == strlen(word) && strncasecmp(text.at, word, text.length) == 0;
}

static bool all(struct text text, bool (*is)(char c)) {
    for (size_t i = 0; i < text.length; i++)
        if (!is(text.at[i]))
            return false;
    return text.length > 0;
}

/* A decimal number up to max; false when it is none. */
static bool number(struct text text, uint64_t max, uint64_t *value) {
    if (text.length > 19 || !all(text, is_digit))
        return false;
    *value = 0;
    for (size_t i = 0; i < text.length; i++)
        *value = *value * 10 + (uint64_t)(text.at[i] - '0');
    return *value <= max;
}

static struct text trim(struct text text) {
    while (text.length && (text.at[0] == ' ' || text.at[0] == '\t'))
        text.at++, text.length--;
    while (text.length && (text.at[text.length - 1] == ' ' || text.at[text.length - 1] == '\t'))
        text.length--;
    return text;
}

/* METHOD SP TARGET SP HTTP/1.x */
static bool read_request_line(struct text line, struct head *head) {
    static const char version[] = " HTTP/1.";
    const size_t tail = sizeof version; /* the digit instead of the NUL */
    if (line.length < tail + 3)
        return false;
    const char *end = line.at + line.length - tail;
    if (memcmp(end, version, sizeof version - 1) != 0 || !is_digit(line.at[line.length - 1]))
        return false;
    const char *space = memchr(line.at, ' ', (size_t)(end - line.at));
    if (!space || !all((struct text){line.at, (size_t)(space - line.at)}, is_token_char) ||
        space + 1 == end)
        return false;
    for (const char *c = space + 1; c < end; c++)
        if ((unsigned char)*c <= ' ' || *c == 0x7f)
            return false;
    head->method = (struct text){line.at, (size_t)(space - line.at)};
    head->target = (struct text){space + 1, (size_t)(end - space) - 1};
    return true;
}

/* Whether a list, separated by commas, has the word. */
static bool lists(struct text list, const char *word) {
    while (list.length) {
        const char *comma = memchr(list.at, ',', list.length);
        size_t length = comma ? (size_t)(comma - list.at) : list.length;
        if (equals(trim((struct text){list.at, length}), word))
            return true;
        length += comma ? 1 : 0;
        list.at += length, list.length -= length;
    }
    return false;
}

/* Keeps a header if it is one that matters. NULL, or what is wrong. */
static const char *take_header(struct head *head, struct text line) {
    if (line.at[0] == ' ' || line.at[0] == '\t')
        return "a header line is folded";
    const char *colon = memchr(line.at, ':', line.length);
    struct text name = {line.at, colon ? (size_t)(colon - line.at) : 0};
    if (!all(name, is_token_char))
        return "a header line has no proper name";
    struct text value = {colon + 1, line.length - name.length - 1};
    for (size_t i = 0; i < value.length; i++)
        if (!is_field_char(value.at[i]))
            return "a header has a control character";
    const struct {
        const char *name;
        struct text *slot;
        const char *twice;
    } known[] = {
        {"Host", &head->host, "the Host header is there twice"},
        {"E2b-Sandbox-Id", &head->sandbox_id, "the E2b-Sandbox-Id header is there twice"},
        {"E2b-Sandbox-Port", &head->sandbox_port, "the E2b-Sandbox-Port header is there twice"},
        {"Content-Length", &head->content_length, "the Content-Length header is there twice"},
        {"Transfer-Encoding", &head->transfer_encoding,
         "the Transfer-Encoding header is there twice"},
        {"X-API-Key", &head->api_key, "the X-API-Key header is there twice"},
        {"E2b-Traffic-Access-Token", &head->traffic_token,
         "the E2b-Traffic-Access-Token header is there twice"},
    };
    head->has_upgrade |= equals(name, "Upgrade");
    if (equals(name, "Connection"))
        head->connection_upgrades |= lists(value, "upgrade");
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (!equals(name, known[i].name))
            continue;
        if (known[i].slot->at)
            return known[i].twice;
        *known[i].slot = trim(value);
    }
    return NULL;
}

/* Goes through the lines of a whole head. NULL, or what is wrong. */
static const char *read_lines(const char *bytes, size_t length, struct head *head) {
    size_t at = 0;
    for (bool first = true;; first = false) {
        const char *newline = memchr(bytes + at, '\n', length - at);
        size_t line_length = (size_t)(newline - (bytes + at));
        if (line_length == 0 || newline[-1] != '\r')
            return "a line does not end with CR LF";
        struct text line = {bytes + at, line_length - 1};
        at += line_length + 1;
        if (first) {
            if (!read_request_line(line, head))
                return "the request line is not HTTP/1";
        } else {
            if (line.length == 0)
                return NULL;
            const char *wrong = take_header(head, line);
            if (wrong)
                return wrong;
        }
    }
}

static const char *read_body_length(const struct head *head, struct route *route) {
    if (head->transfer_encoding.at) {
        if (head->content_length.at)
            return "both Content-Length and Transfer-Encoding are given";
        if (!equals(head->transfer_encoding, "chunked"))
            return "Transfer-Encoding is not chunked";
        route->chunked = true;
    } else if (head->content_length.at &&
               !number(head->content_length, UINT64_MAX / 2, &route->content_length)) {
        return "Content-Length is not a number";
    }
    return NULL;
}

static bool is_id_char(char c) {
    return is_alnum(c) || c == '-' || c == '_';
}

static bool is_label_id_char(char c) {
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static void to_sandbox(struct route *route, struct text id, uint64_t port) {
    route->to_sandbox = true;
    route->port = (uint16_t)port;
    memcpy(route->id, id.at, id.length);
    route->id[id.length] = '\0';
}

static const char *read_sandbox_headers(const struct head *head, struct route *route) {
    uint64_t port = ROUTE_DEFAULT_PORT;
    if (head->sandbox_id.length >= ROUTE_ID_MAX || !all(head->sandbox_id, is_id_char))
        return "E2b-Sandbox-Id is not the id of a sandbox";
    if (head->sandbox_port.at && (!number(head->sandbox_port, UINT16_MAX, &port) || port == 0))
        return "E2b-Sandbox-Port is not a port";
    to_sandbox(route, head->sandbox_id, port);
    route->by_header = true;
    return NULL;
}

/* A first label "PORT-ID" in front of a domain, "49999-i0123456789abcdefghi.local". Ids have 20
 * characters; anything of ten or more is taken for one, so that a mistyped id is answered by the
 * gateway and other names are not. */
static void read_host(struct text host, struct route *route) {
    struct text label = host;
    const char *dot = label.at ? memchr(label.at, '.', label.length) : NULL;
    if (!dot)
        return;
    label.length = (size_t)(dot - label.at);
    const char *dash = memchr(label.at, '-', label.length);
    if (!dash)
        return;
    struct text id = {dash + 1, (size_t)(dot - dash) - 1};
    uint64_t port;
    if (id.length >= 10 && id.length < ROUTE_ID_MAX && all(id, is_label_id_char) &&
        number((struct text){label.at, (size_t)(dash - label.at)}, UINT16_MAX, &port) && port > 0) {
        to_sandbox(route, id, port);
        for (char *c = route->id; *c; c++) /* names of hosts have no case, ids are lower case */
            if (*c >= 'A' && *c <= 'Z')
                *c = (char)(*c - 'A' + 'a');
    }
}

/* CONNECT HOST:PORT; the port behind the colon says nothing here, but has to be one. */
static const char *read_tunnel(const struct head *head, struct route *route) {
    const char *colon = memrchr(head->target.at, ':', head->target.length);
    if (!colon)
        return "the target of CONNECT is not HOST:PORT";
    struct text host = {head->target.at, (size_t)(colon - head->target.at)};
    struct text number_text = {colon + 1, head->target.length - host.length - 1};
    uint64_t port;
    if (!number(number_text, UINT16_MAX, &port) || port == 0)
        return "the target of CONNECT is not HOST:PORT";
    if (route->chunked || route->content_length > 0)
        return "a CONNECT request has no body";
    if (!route->to_sandbox)
        read_host(host, route);
    route->tunnel = true;
    return route->to_sandbox ? NULL : "CONNECT names no port of a sandbox (PORT-ID.domain:PORT)";
}

/* Where the request belongs. NULL, or what is wrong. */
static const char *read_destination(const struct head *head, struct route *route) {
    const char *wrong = head->sandbox_id.at ? read_sandbox_headers(head, route) : NULL;
    if (wrong)
        return wrong;
    if (equals(head->method, "CONNECT"))
        return read_tunnel(head, route);
    if (!head->sandbox_id.at)
        read_host(head->host, route);
    route->upgrade = head->has_upgrade && head->connection_upgrades;
    return NULL;
}

/* The length of the head with its empty line, or 0 when that has not come. */
static size_t find_end(const char *bytes, size_t length, size_t *scanned) {
    /* The end may have begun up to three bytes before what is new. */
    size_t at = *scanned > 3 ? *scanned - 3 : 0;
    *scanned = length;
    while (length - at >= 4) {
        const char *cr = memchr(bytes + at, '\r', length - at - 3);
        if (!cr)
            return 0;
        at = (size_t)(cr - bytes);
        if (memcmp(cr, "\r\n\r\n", 4) == 0)
            return at + 4;
        at++;
    }
    return 0;
}

enum route_result route_parse(const char *bytes, size_t length, size_t *scanned,
                              struct route *route) {
    size_t end = find_end(bytes, length, scanned);
    if (end == 0)
        return ROUTE_MORE;
    *route = (struct route){.head_length = end};
    struct head head = {0};
    route->bad = read_lines(bytes, end, &head);
    if (!route->bad)
        route->bad = read_body_length(&head, route);
    if (!route->bad)
        route->bad = read_destination(&head, route);
    route->api_key = head.api_key.at;
    route->api_key_length = head.api_key.length;
    route->traffic_token = head.traffic_token.at;
    route->traffic_token_length = head.traffic_token.length;
    return route->bad ? ROUTE_BAD : ROUTE_DONE;
}
