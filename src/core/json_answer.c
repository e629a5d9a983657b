#include "json_answer.h"

#include "error.h"
#include "stepbox_engine.h"

#include <stdlib.h>

static int keep(sb_op *op, const struct sbi_exchange *exchange, json_type type, sb_error *err) {
    json_t *answer = sbi_exchange_json(exchange, err);
    if (answer == NULL) {
        return -1;
    }
    if (json_typeof(answer) != type) {
        json_decref(answer);
        return sbi_fail(err, SB_PROTOCOL, "the server's answer is no %s",
                        type == JSON_OBJECT ? "object" : "list");
    }
    free(op->json);
    op->json = json_dumps(answer, JSON_COMPACT);
    json_decref(answer);
    return op->json != NULL ? 0 : sbi_no_memory(err);
}

int sbi_keep_json_answer(sb_op *op, const struct sbi_exchange *exchange, sb_error *err) {
    return keep(op, exchange, JSON_OBJECT, err);
}

int sbi_keep_json_list(sb_op *op, const struct sbi_exchange *exchange, sb_error *err) {
    return keep(op, exchange, JSON_ARRAY, err);
}

const char *sb_op_json(const sb_op *op) {
    return op->json;
}
