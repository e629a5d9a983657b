#include "start_output.h"

#include "output_encoder.h"

#include <string.h>

void start_output_add(struct start_output *output, const char *bytes, size_t length) {
    if (length > START_OUTPUT_MAX) {
        bytes += length - START_OUTPUT_MAX;
        length = START_OUTPUT_MAX;
    }
    size_t keep = START_OUTPUT_MAX - length;
    if (keep > output->length)
        keep = output->length;
    memmove(output->bytes, output->bytes + output->length - keep, keep);
    memcpy(output->bytes + keep, bytes, length);
    output->length = keep + length;
}

json_t *start_output_text(const struct start_output *output) {
    output_encoder encoder = {0};
    size_t written = 0;
    char encoded[6 * START_OUTPUT_MAX + 2 * OUTPUT_ENCODER_MAX];
    encoded[written++] = '"';
    output_encode(&encoder, output->bytes, output->length, encoded + written,
                  sizeof encoded - written - OUTPUT_ENCODER_MAX, &written);
    written += output_encode_end(&encoder, encoded + written);
    encoded[written++] = '"';
    return json_loadb(encoded, written, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
}
