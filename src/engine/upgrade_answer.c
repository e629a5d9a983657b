#include "upgrade_answer.h"

static const char line[] = "HTTP/1.1 ";
#define DIGITS 3

/* The end of an interim answer's head: CR LF CR LF. */
static void skip_head(struct upgrade_answer *answer, char c) {
    static const char end[] = "\r\n\r\n";
    if (c == end[answer->empty])
        answer->empty++;
    else
        answer->empty = c == '\r';
    if (answer->empty == sizeof end - 1)
        *answer = (struct upgrade_answer){0};
}

static void decide(struct upgrade_answer *answer) {
    if (answer->status == 101)
        answer->verdict = UPGRADE_AGREED;
    else if (answer->status < 100 || answer->status > 199)
        answer->verdict = UPGRADE_DECLINED;
}

static void step(struct upgrade_answer *answer, char c) {
    const size_t prefix = sizeof line - 1;
    if (answer->at == prefix + DIGITS) {
        skip_head(answer, c);
        return;
    }
    if (answer->at < prefix ? c != line[answer->at] : c < '0' || c > '9') {
        answer->verdict = UPGRADE_DECLINED;
        return;
    }
    if (answer->at >= prefix)
        answer->status = answer->status * 10 + (c - '0');
    if (++answer->at == prefix + DIGITS)
        decide(answer);
}

enum upgrade_verdict upgrade_answer_feed(struct upgrade_answer *answer, const char *bytes,
                                         size_t length) {
    for (size_t i = 0; i < length && answer->verdict == UPGRADE_PENDING; i++)
        step(answer, bytes[i]);
    return answer->verdict;
}
