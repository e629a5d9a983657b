/* Forms: the parts are the same in pieces of any size, and a file that is packed into a form comes
 * out of it unchanged, unless it has the boundary in it. */
#include "multipart.h"

#include "../fuzz.h"

struct parts {
    struct fuzz_sink *out;
    bool open;
};

static int on_begin(void *user, const char *name, const char *filename, size_t length) {
    struct parts *parts = user;
    FUZZ_CHECK(!parts->open);
    parts->open = true;
    fuzz_add_text(parts->out, name ? name : "(none)");
    if (filename) {
        FUZZ_CHECK(filename[length] == '\0');
        fuzz_add(parts->out, filename, length);
    }
    fuzz_add(parts->out, "=", 1);
    return 0;
}

static int on_data(void *user, const char *bytes, size_t length) {
    struct parts *parts = user;
    FUZZ_CHECK(parts->open && length > 0);
    fuzz_add(parts->out, bytes, length);
    return 0;
}

static int on_end(void *user) {
    struct parts *parts = user;
    FUZZ_CHECK(parts->open);
    parts->open = false;
    fuzz_add(parts->out, "|", 1);
    return 0;
}

static const multipart_events events = {on_begin, on_data, on_end};

static void read_form(const char *type, const void *bytes, size_t count, unsigned how,
                      struct fuzz_sink *out) {
    struct parts parts = {.out = out};
    const char *fault = NULL;
    char *piece;
    size_t length;
    int status = 0;
    multipart *parser = multipart_new(type, &events, &parts, &fault);
    FUZZ_CHECK((parser == NULL) == (fault != NULL));
    if (!parser)
        return;
    struct fuzz_pieces pieces = fuzz_pieces(bytes, count, how);
    while (status == 0 && fuzz_next(&pieces, &piece, &length))
        status = multipart_feed(parser, piece, length);
    fuzz_stop(&pieces);
    if (status == 0)
        status = multipart_end(parser);
    FUZZ_CHECK((status == 0) == (multipart_fault(parser) == NULL));
    fuzz_add_text(out, status == 0 ? "whole" : multipart_fault(parser));
    multipart_free(parser);
}

static void read_packed(const void *bytes, size_t length, unsigned how) {
    static const char head[] = "--B\r\nContent-Disposition: form-data; name=\"file\"\r\n\r\n";
    static const char tail[] = "\r\n--B--\r\n";
    struct fuzz_sink form = {0}, expected = {0}, got = {0};
    if (memmem(bytes, length, "--B", 3))
        return;
    fuzz_add_text(&form, head);
    fuzz_add(&form, bytes, length);
    fuzz_add_text(&form, tail);
    fuzz_add_text(&expected, "file=");
    fuzz_add(&expected, bytes, length);
    fuzz_add_text(&expected, "|whole");
    read_form("multipart/form-data; boundary=B", form.bytes, form.length, how, &got);
    FUZZ_CHECK(fuzz_same(&expected, &got));
    fuzz_sink_free(&form);
    fuzz_sink_free(&expected);
    fuzz_sink_free(&got);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    struct fuzz_input input = fuzz_input(bytes, length);
    struct fuzz_sink whole = {0}, in_pieces = {0};
    unsigned how = fuzz_byte(&input);
    char *type = fuzz_line(&input);
    read_form(type, input.bytes, input.length, 0, &whole);
    read_form(type, input.bytes, input.length, how, &in_pieces);
    FUZZ_CHECK(fuzz_same(&whole, &in_pieces));
    read_packed(input.bytes, input.length, how);
    fuzz_sink_free(&whole);
    fuzz_sink_free(&in_pieces);
    free(type);
    return 0;
}
