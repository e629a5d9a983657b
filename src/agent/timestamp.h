/* timestamp.h - the time of day as RFC 3339 with microseconds: 2026-01-31T12:00:00.000000+00:00 */
#ifndef STEPBOX_TIMESTAMP_H
#define STEPBOX_TIMESTAMP_H

#define TIMESTAMP_SIZE 40

void timestamp_now(char text[TIMESTAMP_SIZE]);

#endif
