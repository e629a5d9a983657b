/* The events of a step's output: each is a line of JSON within the bound, and together they say
 * what was written to each stream. */
#include "output_pieces.h"

#include "../fuzz.h"

#include <jansson.h>

static struct fuzz_sink texts[OUTPUT_STREAMS];

static void on_line(void *user, const char *line, size_t length) {
    (void)user;
    FUZZ_CHECK(length > 0 && length <= OUTPUT_EVENT_MAX && line[length - 1] == '\n');
    FUZZ_CHECK(!memchr(line, '\n', length - 1));
    json_t *event = json_loadb(line, length, JSON_ALLOW_NUL, NULL);
    const char *type = json_string_value(json_object_get(event, "type"));
    const json_t *text = json_object_get(event, "text");
    FUZZ_CHECK(event && type && json_string_length(text) > 0);
    FUZZ_CHECK(json_is_string(json_object_get(event, "timestamp")));
    int stream = strcmp(type, "stdout") == 0 ? OUTPUT_STDOUT : OUTPUT_STDERR;
    fuzz_add(&texts[stream], json_string_value(text), json_string_length(text));
    json_decref(event);
}

/* What one stream gets, encoded by itself. */
static void expect(const struct fuzz_sink *written, int stream) {
    output_encoder encoder = {0};
    struct fuzz_sink json = {0};
    size_t room = (written->length + 1) * OUTPUT_ENCODER_MAX, length = 0;
    char *to = fuzz_allocate(room);
    FUZZ_CHECK(output_encode(&encoder, written->bytes, written->length, to, room, &length) ==
               written->length);
    length += output_encode_end(&encoder, to + length);
    fuzz_add_text(&json, "\"");
    fuzz_add(&json, to, length);
    fuzz_add_text(&json, "\"");
    json_t *text = json_loadb(json.bytes, json.length, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
    FUZZ_CHECK(json_string_length(text) == texts[stream].length);
    FUZZ_CHECK(texts[stream].length == 0 ||
               memcmp(json_string_value(text), texts[stream].bytes, texts[stream].length) == 0);
    json_decref(text);
    fuzz_sink_free(&json);
    free(to);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    static output_pieces pieces;
    struct fuzz_input input = fuzz_input(bytes, length);
    struct fuzz_sink written[OUTPUT_STREAMS] = {{0}};
    unsigned how = fuzz_byte(&input);
    /* Many of one long piece, so that events become full. */
    unsigned times = how == 0 ? 40 : 1;
    struct fuzz_pieces parts = fuzz_pieces(input.bytes, input.length, how);
    char *part;
    size_t size;
    output_pieces_init(&pieces, ev_default_loop(EVFLAG_AUTO), on_line, NULL);
    while (fuzz_next(&parts, &part, &size)) {
        int stream = *part & 1 ? OUTPUT_STDERR : OUTPUT_STDOUT;
        for (unsigned i = 0; i < times; i++) {
            output_pieces_add(&pieces, stream, part, size);
            fuzz_add(&written[stream], part, size);
        }
    }
    output_pieces_end(&pieces);
    FUZZ_CHECK(pieces.length == 0 && !ev_is_active(&pieces.timer));
    for (int stream = 0; stream < OUTPUT_STREAMS; stream++) {
        expect(&written[stream], stream);
        fuzz_sink_free(&written[stream]);
        fuzz_sink_free(&texts[stream]);
    }
    return 0;
}
