/* Lines from a runner: the same whatever pieces they come in, none longer than the bound. */
#include "line_reader.h"

#include "../fuzz.h"

#define MAX_LINE 64

/* Joins the lines, each with its length; false when one was too long. */
static bool read_lines(struct fuzz_input input, unsigned how, struct fuzz_sink *out) {
    line_reader reader = {.max = MAX_LINE};
    struct fuzz_pieces pieces = fuzz_pieces(input.bytes, input.length, how);
    char *piece, *line;
    size_t length, room, size;
    bool fits = true;
    while (fits && fuzz_next(&pieces, &piece, &length)) {
        while (length && fits) {
            while ((line = line_reader_next(&reader, &size)) != NULL) {
                FUZZ_CHECK(line[size] == '\0' && size <= MAX_LINE);
                fuzz_add(out, line, size);
                fuzz_add_text(out, "\n");
            }
            char *to = line_reader_room(&reader, &room);
            fits = to != NULL;
            if (!fits)
                break;
            FUZZ_CHECK(room > 0);
            size_t part = room < length ? room : length;
            memcpy(to, piece, part);
            line_reader_put(&reader, part);
            piece += part;
            length -= part;
        }
    }
    fuzz_stop(&pieces);
    while ((line = line_reader_next(&reader, &size)) != NULL) {
        fuzz_add(out, line, size);
        fuzz_add_text(out, "\n");
    }
    fits = fits && !line_reader_is_over(&reader);
    FUZZ_CHECK(reader.capacity <= 4 * MAX_LINE + 64 * 1024);
    line_reader_free(&reader);
    return fits;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    struct fuzz_input input = fuzz_input(bytes, length);
    struct fuzz_sink lines = {0};
    unsigned how = fuzz_byte(&input);
    bool fits = read_lines(input, how, &lines);
    FUZZ_CHECK(lines.length <= input.length);
    FUZZ_CHECK(lines.length == 0 || memcmp(lines.bytes, input.bytes, lines.length) == 0);
    /* All whole lines came, unless one was too long. */
    const char *last = input.length ? memrchr(input.bytes, '\n', input.length) : NULL;
    if (fits)
        FUZZ_CHECK(lines.length == (last ? (size_t)(last - input.bytes) + 1 : 0));
    fuzz_sink_free(&lines);
    return 0;
}
