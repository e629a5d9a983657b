#include "global.h"

#include "error.h"
#include "ownership.h"

#include <curl/curl.h>
#include <pthread.h>
#include <stdlib.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static CURLcode result;

static void init(void) {
    result = curl_global_init(CURL_GLOBAL_DEFAULT);
    if (result == CURLE_OK) {
        /* After libcurl: handlers run in reverse order, so the TLS library's own clean-up comes
         * later. */
        atexit(sbi_ownership_end_at_exit);
    }
}

int sbi_global_init(sb_error *err) {
    pthread_once(&once, init);
    if (result != CURLE_OK) {
        return sbi_fail(err, SB_SYSTEM, "libcurl cannot be initialised: %s",
                        curl_easy_strerror(result));
    }
    return 0;
}
