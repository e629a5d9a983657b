/* event_time.h - the time of day with microseconds: 2026-01-31T12:00:00.000000+00:00 */
#ifndef STEPBOX_EVENT_TIME_H
#define STEPBOX_EVENT_TIME_H

#define EVENT_TIME_SIZE 40

void event_time_now(char text[EVENT_TIME_SIZE]);

#endif
