/* event_time.c - see event_time.h */
#include "event_time.h"

#include <stdio.h>
#include <time.h>

void event_time_now(char text[EVENT_TIME_SIZE]) {
    struct timespec now;
    struct tm utc;
    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &utc);
    size_t length = strftime(text, EVENT_TIME_SIZE, "%Y-%m-%dT%H:%M:%S", &utc);
    snprintf(text + length, EVENT_TIME_SIZE - length, ".%06ld+00:00", now.tv_nsec / 1000);
}
