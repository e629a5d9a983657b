/*
 * upgrade_answer.h - looks whether the answer to a request to upgrade agrees ("101 Switching
 * Protocols").
 */
#ifndef STEPBOX_UPGRADE_ANSWER_H
#define STEPBOX_UPGRADE_ANSWER_H

#include <stddef.h>

enum upgrade_verdict { UPGRADE_PENDING, UPGRADE_AGREED, UPGRADE_DECLINED };

struct upgrade_answer {
    enum upgrade_verdict verdict;
    size_t at; /* bytes of the status line so far */
    int status;
    size_t empty; /* how much of CR LF CR LF has come, behind an interim answer */
};

/* Takes the next bytes of the answer; what follows the verdict is not looked at. Interim answers
 * (100 Continue) are passed over; what is not HTTP/1.1 declines. */
enum upgrade_verdict upgrade_answer_feed(struct upgrade_answer *answer, const char *bytes,
                                         size_t length);

#endif
