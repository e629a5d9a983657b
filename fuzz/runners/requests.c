/* What the agent sends a runner, with the code and variables of a client in it: the same requests
 * whatever pieces they come in; what is taken is whole, and what is said of it can be shown. */
#include "shared/request.h"
#include "shared/wire.h"

#include "../fuzz.h"

#include <sys/socket.h>
#include <unistd.h>

/* Notes what a line is read as. */
static void note(const char *line, size_t length, struct fuzz_sink *out) {
    char fault[REQUEST_FAULT_MAX];
    char *copy = fuzz_copy(line, length);
    struct request request = request_read(copy, length);
    FUZZ_CHECK(request.type == REQUEST_UNKNOWN || request.message || request.name_with_nul);
    if (request.type == REQUEST_RUN) {
        const char *why = request_env_fault(&request, fault);
        const char *name;
        json_t *value;
        FUZZ_CHECK(why || json_is_string(request.code));
        /* Without a fault all can be set. */
        json_object_foreach(request.env, name, value)
            FUZZ_CHECK(why || (*name && !strchr(name, '=') &&
                               strlen(json_string_value(value)) == json_string_length(value)));
        fuzz_add_text(out, why ? why : "run");
        if (!why)
            fuzz_add(out, json_string_value(request.code), json_string_length(request.code));
    } else {
        fuzz_add_text(out, request.type == REQUEST_DRAINED ? "drained" : "unknown");
    }
    fuzz_add_text(out, "\n");
    request_free(&request);
    free(copy);
}

static void note_all(struct wire *wire, struct fuzz_sink *out) {
    size_t length;
    char *line;
    while ((line = wire_next(wire, &length)) != NULL) {
        FUZZ_CHECK(line[length] == '\0' && !memchr(line, '\n', length));
        note(line, length, out);
    }
}

static void read_requests(struct fuzz_input input, unsigned how, struct fuzz_sink *out) {
    int ends[2];
    struct wire wire;
    struct fuzz_pieces pieces = fuzz_pieces(input.bytes, input.length, how);
    char *piece;
    size_t length;
    FUZZ_CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
    FUZZ_CHECK(wire_open(&wire, ends[1]) == 0);
    note_all(&wire, out);
    while (fuzz_next(&pieces, &piece, &length)) {
        while (length) {
            ssize_t sent = send(ends[0], piece, length, MSG_DONTWAIT | MSG_NOSIGNAL);
            FUZZ_CHECK(sent > 0);
            piece += sent;
            length -= (size_t)sent;
            FUZZ_CHECK(wire_fill(&wire));
            note_all(&wire, out);
        }
    }
    close(ends[0]);
    while (wire_fill(&wire))
        note_all(&wire, out);
    close(wire.fd);
    free(wire.bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    fuzz_check_pieces(bytes, length, read_requests);
    return 0;
}
