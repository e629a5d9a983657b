#include "rfc3339.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

int64_t rfc3339_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

void rfc3339_format(int64_t ms, char out[RFC3339_SIZE]) {
    time_t seconds = (time_t)(ms / 1000);
    struct tm utc;
    gmtime_r(&seconds, &utc);
    size_t used = strftime(out, RFC3339_SIZE, "%Y-%m-%dT%H:%M:%S", &utc);
    snprintf(out + used, RFC3339_SIZE - used, ".%03dZ", (int)(ms % 1000));
}

/* Reads exactly `digits` digits; moves *text behind them. -1 when they are not there or outside
 * low..high. */
static int number(const char **text, int digits, int low, int high) {
    int value = 0;
    for (int i = 0; i < digits; i++, (*text)++) {
        if (**text < '0' || **text > '9')
            return -1;
        value = value * 10 + (**text - '0');
    }
    return value >= low && value <= high ? value : -1;
}

static bool literal(const char **text, const char *any_of) {
    if (!**text || !strchr(any_of, **text))
        return false;
    (*text)++;
    return true;
}

/* The fraction behind the seconds, cut to milliseconds; -1 when there is a point without digits. */
static int fraction(const char **text) {
    if (!literal(text, "."))
        return 0;
    int ms = 0, digits = 0;
    for (; **text >= '0' && **text <= '9'; (*text)++, digits++)
        if (digits < 3)
            ms = ms * 10 + (**text - '0');
    for (int i = digits; i < 3; i++)
        ms *= 10;
    return digits > 0 ? ms : -1;
}

/* "Z" or "+01:00": minutes east of UTC. */
static int offset(const char **text, int *minutes) {
    *minutes = 0;
    if (literal(text, "Zz"))
        return 0;
    int sign = **text == '-' ? -1 : 1;
    if (!literal(text, "+-"))
        return -1;
    int hours = number(text, 2, 0, 23);
    if (hours < 0 || !literal(text, ":"))
        return -1;
    int rest = number(text, 2, 0, 59);
    if (rest < 0)
        return -1;
    *minutes = sign * (hours * 60 + rest);
    return 0;
}

int rfc3339_parse(const char *text, int64_t *ms) {
    struct tm utc = {0};
    int milliseconds, east;
    if ((utc.tm_year = number(&text, 4, 1970, 9999)) < 0 || !literal(&text, "-") ||
        (utc.tm_mon = number(&text, 2, 1, 12)) < 0 || !literal(&text, "-") ||
        (utc.tm_mday = number(&text, 2, 1, 31)) < 0 || !literal(&text, "Tt ") ||
        (utc.tm_hour = number(&text, 2, 0, 23)) < 0 || !literal(&text, ":") ||
        (utc.tm_min = number(&text, 2, 0, 59)) < 0 || !literal(&text, ":") ||
        (utc.tm_sec = number(&text, 2, 0, 60)) < 0 || (milliseconds = fraction(&text)) < 0 ||
        offset(&text, &east) < 0 || *text)
        return -1;
    utc.tm_year -= 1900;
    utc.tm_mon -= 1;
    int day = utc.tm_mday;
    time_t seconds = timegm(&utc);
    if (utc.tm_mday != day) /* the 30th of February */
        return -1;
    *ms = ((int64_t)seconds - east * 60) * 1000 + milliseconds;
    return 0;
}
