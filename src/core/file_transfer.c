#include "file_transfer.h"

#include "error.h"
#include "file_error.h"
#include "file_url.h"
#include "wire.h"

#include <math.h>
#include <string.h>

#define CONNECT_SECONDS 30.0
#define MAX_QUERY (128u * 1024)

int sbi_transfer_check(const char *path, double idle_timeout, sb_error *err) {
    if (sbi_file_check_path(path, "path", false, err) != 0) {
        return -1;
    }
    return idle_timeout >= 0
               ? 0
               : sbi_fail(err, SB_INVALID, "idle_timeout: must be more than 0 seconds");
}

struct sbi_exchange *sbi_transfer_exchange(sb_op *op, sb_box *box, const char *method,
                                           const char *path, const char *user, double idle_timeout,
                                           void (*done)(void *op, struct sbi_exchange *exchange),
                                           sb_error *err) {
    if (user != NULL && (user[0] == '\0' || strchr(user, ':') != NULL)) {
        sbi_fail(err, SB_INVALID, "user: not a user's name");
        return NULL;
    }
    struct sbi_exchange *exchange = sbi_op_exchange(op, box->config, done, err);
    if (exchange == NULL) {
        return NULL;
    }
    struct sbi_buffer query;
    sbi_buffer_init(&query, MAX_QUERY);
    int status = sbi_file_query(&query, &box->address, path, user) == SB_OK
                     ? sbi_exchange_to_sandbox(exchange, &box->address, SBI_PORT_ENVD, method,
                                               query.data, err)
                     : sbi_no_memory(err);
    sbi_buffer_free(&query);
    exchange->timeout = INFINITY;
    exchange->connect_timeout = CONNECT_SECONDS;
    exchange->idle_timeout = idle_timeout > 0 ? idle_timeout : SB_DEFAULT_IDLE_TIMEOUT;
    return status == 0 ? exchange : NULL;
}
