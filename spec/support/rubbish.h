/*
 * rubbish.h - random numbers for tests that feed rubbish to parsers, the same in each run.
 */
#ifndef STEPBOX_RUBBISH_H
#define STEPBOX_RUBBISH_H

#include <stdint.h>

/* A generator of our own, so that a failure can be repeated. */
static uint32_t seed = 1;

static inline unsigned rubbish(unsigned below) {
    seed = seed * 1664525 + 1013904223;
    return (seed >> 8) % below;
}

#endif
