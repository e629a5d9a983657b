/*
 * high_descriptor.h - copies of descriptors on numbers that code does not hit by chance.
 */
#ifndef STEPBOX_RUNNER_HIGH_DESCRIPTOR_H
#define STEPBOX_RUNNER_HIGH_DESCRIPTOR_H

/* A copy that is closed on exec, from the number `wanted` up, or, where the limit does not allow
 * that, above the ten that scripts use. -1 with errno: EBADF when the descriptor is not open. */
int high_descriptor(int fd, int wanted);

#endif
