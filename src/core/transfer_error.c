#include "transfer_error.h"

#include <string.h>

static sb_code code_of(CURLcode result) {
    switch (result) {
    case CURLE_URL_MALFORMAT:
    case CURLE_SSL_CACERT_BADFILE:
        return SB_INVALID;
    case CURLE_UNSUPPORTED_PROTOCOL: /* also an answer that is no HTTP */
    case CURLE_WEIRD_SERVER_REPLY:
    case CURLE_BAD_CONTENT_ENCODING:
        return SB_PROTOCOL;
#if LIBCURL_VERSION_NUM >= 0x080600
    case CURLE_TOO_LARGE:
        return SB_TOO_LARGE;
#endif
    case CURLE_OUT_OF_MEMORY:
    case CURLE_FAILED_INIT:
    case CURLE_BAD_FUNCTION_ARGUMENT:
    case CURLE_ABORTED_BY_CALLBACK:
        return SB_SYSTEM;
    default:
        return SB_UNAVAILABLE;
    }
}

static bool is_cut(CURLcode result) {
    switch (result) {
    case CURLE_GOT_NOTHING:
    case CURLE_RECV_ERROR:
    case CURLE_SEND_ERROR:
    case CURLE_PARTIAL_FILE:
    case CURLE_HTTP2:
    case CURLE_HTTP2_STREAM:
        return true;
    default:
        return false;
    }
}

static void explain_connect(struct sbi_exchange *exchange) {
    const struct sbi_dial *dial = &exchange->dial;
    const char *path = exchange->config->socket;
    if (dial->is_impostor) {
        sbi_fail(&exchange->error, SB_UNAVAILABLE,
                 "%s: somebody else's program listens there; set STEPBOX_SOCKET to a path of yours",
                 path);
    } else if (exchange->has_engine_gone && !exchange->may_start_engine) {
        sbi_fail(&exchange->error, exchange->is_to_sandbox ? SB_SANDBOX_LOST : SB_NOT_FOUND,
                 "no engine runs at %s, and its sandboxes ended with it", path);
    } else {
        sbi_fail(&exchange->error, SB_UNAVAILABLE, "no engine answers at %s: %s", path,
                 strerror(dial->failure));
    }
}

void sbi_transfer_error(struct sbi_exchange *exchange, CURLcode result) {
    if (exchange->error.code != SB_OK) {
        return;
    }
    exchange->was_cut = is_cut(result) || exchange->dial.was_repeated;
    if (exchange->was_cut) {
        sbi_fail_status(&exchange->error, SB_UNAVAILABLE, exchange->status,
                        "the connection was cut %s",
                        exchange->status == 0 ? "before an answer" : "within the answer");
        return;
    }
    if (exchange->dial.failure != 0) {
        explain_connect(exchange);
        return;
    }
    if (result == CURLE_OPERATION_TIMEDOUT) {
        sbi_fail(&exchange->error, SB_UNAVAILABLE, "no connection within %g s",
                 exchange->connect_timeout);
        return;
    }
    const char *complaint =
        exchange->complaint[0] != '\0' ? exchange->complaint : curl_easy_strerror(result);
    sbi_fail_status(&exchange->error, code_of(result), exchange->status, "%s", complaint);
}
