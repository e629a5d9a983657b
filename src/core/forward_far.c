#include "forward_far.h"

#include <errno.h>
#include <sys/socket.h>

static enum sbi_far_result of_socket(ssize_t count, size_t *moved) {
    if (count > 0) {
        *moved = (size_t)count;
        return SBI_FAR_DONE;
    }
    if (count == 0) {
        return SBI_FAR_END;
    }
    return errno == EAGAIN || errno == EINTR ? SBI_FAR_AGAIN : SBI_FAR_BROKEN;
}

static enum sbi_far_result of_curl(CURLcode result, const size_t *moved) {
    if (result == CURLE_OK) {
        return *moved > 0 ? SBI_FAR_DONE : SBI_FAR_END;
    }
    return result == CURLE_AGAIN ? SBI_FAR_AGAIN : SBI_FAR_BROKEN;
}

enum sbi_far_result sbi_far_receive(struct sbi_far *far, char *bytes, size_t length,
                                    size_t *moved) {
    *moved = 0;
    if (far->easy == NULL) {
        return of_socket(recv(far->fd, bytes, length, MSG_DONTWAIT), moved);
    }
    return of_curl(curl_easy_recv(far->easy, bytes, length, moved), moved);
}

enum sbi_far_result sbi_far_send(struct sbi_far *far, const char *bytes, size_t length,
                                 size_t *moved) {
    *moved = 0;
    enum sbi_far_result result;
    if (far->easy == NULL) {
        result = of_socket(send(far->fd, bytes, length, MSG_DONTWAIT | MSG_NOSIGNAL), moved);
    } else {
        result = of_curl(curl_easy_send(far->easy, bytes, length, moved), moved);
    }
    return result == SBI_FAR_END ? SBI_FAR_AGAIN : result;
}

void sbi_far_end(struct sbi_far *far) {
    if (!far->is_tls) {
        shutdown(far->fd, SHUT_WR);
    }
}
