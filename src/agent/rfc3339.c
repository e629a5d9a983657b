/* rfc3339.c - see rfc3339.h */
#include "rfc3339.h"

#include <stdio.h>
#include <time.h>

void rfc3339_now(char text[RFC3339_SIZE]) {
    struct timespec now;
    struct tm utc;
    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &utc);
    size_t length = strftime(text, RFC3339_SIZE, "%Y-%m-%dT%H:%M:%S", &utc);
    snprintf(text + length, RFC3339_SIZE - length, ".%06ld+00:00", now.tv_nsec / 1000);
}
