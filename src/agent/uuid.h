/* uuid.h - random (version 4) UUIDs. */
#ifndef STEPBOX_UUID_H
#define STEPBOX_UUID_H

#define UUID_SIZE 37

/* 0, or -1 when the system has no randomness to give. */
int uuid_make(char text[UUID_SIZE]);

#endif
