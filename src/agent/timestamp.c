/* timestamp.c - see timestamp.h */
#include "timestamp.h"

#include <stdio.h>
#include <time.h>

void timestamp_now(char text[TIMESTAMP_SIZE]) {
    struct timespec now;
    struct tm utc;
    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &utc);
    size_t length = strftime(text, TIMESTAMP_SIZE, "%Y-%m-%dT%H:%M:%S", &utc);
    snprintf(text + length, TIMESTAMP_SIZE - length, ".%06ld+00:00", now.tv_nsec / 1000);
}
