/* rfc3339.h - the time of day with microseconds: 2026-01-31T12:00:00.000000+00:00 */
#ifndef STEPBOX_RFC3339_H
#define STEPBOX_RFC3339_H

#define RFC3339_SIZE 40

void rfc3339_now(char text[RFC3339_SIZE]);

#endif
