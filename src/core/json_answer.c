#include "json_answer.h"

#include "error.h"
#include "stepbox_engine.h"

#include <stdlib.h>

int sbi_keep_json_answer(sb_op *op, const struct sbi_exchange *exchange, sb_error *err) {
    json_t *answer = sbi_exchange_json(exchange, err);
    if (answer == NULL) {
        return -1;
    }
    if (!json_is_object(answer)) {
        json_decref(answer);
        return sbi_fail(err, SB_PROTOCOL, "the server's answer is no object");
    }
    free(op->json);
    op->json = json_dumps(answer, JSON_COMPACT);
    json_decref(answer);
    return op->json != NULL ? 0 : sbi_no_memory(err);
}

const char *sb_op_json(const sb_op *op) {
    return op->json;
}
