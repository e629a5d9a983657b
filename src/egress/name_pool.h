/*
 * name_pool.h - addresses that stand for names. Where a sandbox may reach names and not addresses,
 * its queries are answered from here: no query leaves the host, and a connection to such an address
 * tells which name was meant.
 */
#ifndef STEPBOX_NAME_POOL_H
#define STEPBOX_NAME_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* 198.18.0.0/15. Safe to use from several threads. */

/* The address of a name, network order; the oldest name loses its own when all are given away.
 * False when out of memory. */
bool name_pool_give(const char *name, uint8_t address[4]);

/* The name of an address: false when it stands for none. */
bool name_pool_find(const uint8_t address[4], char *name, size_t room);

#endif
