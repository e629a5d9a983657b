#include "name_pool.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* As many names as one sandbox may have in use; 198.18.0.0 itself is left out. */
#define POOL_SIZE 8192u
#define BUCKETS 16384u

struct entry {
    char *name;
    int32_t next; /* in its bucket; -1: the last */
};

static struct entry entries[POOL_SIZE];
static int32_t buckets[BUCKETS]; /* index + 1; 0: none */
static uint32_t taken, oldest;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static uint32_t bucket_of(const char *name) {
    uint32_t hash = 2166136261u;
    for (; *name; name++)
        hash = (hash ^ (uint8_t)*name) * 16777619u;
    return hash % BUCKETS;
}

static int32_t find(const char *name) {
    int32_t index = buckets[bucket_of(name)] - 1;
    while (index >= 0 && strcmp(entries[index].name, name) != 0)
        index = entries[index].next;
    return index;
}

static void forget(int32_t index) {
    int32_t *head = &buckets[bucket_of(entries[index].name)];
    if (*head - 1 == index) {
        *head = entries[index].next + 1;
    } else {
        int32_t before = *head - 1;
        while (entries[before].next != index)
            before = entries[before].next;
        entries[before].next = entries[index].next;
    }
    free(entries[index].name);
    entries[index].name = NULL;
}

static int32_t add(const char *name) {
    char *copy = strdup(name);
    if (!copy)
        return -1;
    int32_t index = (int32_t)taken;
    if (taken < POOL_SIZE) {
        taken++;
    } else {
        index = (int32_t)oldest;
        oldest = (oldest + 1) % POOL_SIZE;
        forget(index);
    }
    int32_t *head = &buckets[bucket_of(name)];
    entries[index] = (struct entry){copy, *head - 1};
    *head = index + 1;
    return index;
}

bool name_pool_give(const char *name, uint8_t address[4]) {
    pthread_mutex_lock(&lock);
    int32_t index = find(name);
    if (index < 0)
        index = add(name);
    pthread_mutex_unlock(&lock);
    uint32_t number = (uint32_t)index + 1;
    address[0] = 198;
    address[1] = 18;
    address[2] = (uint8_t)(number >> 8);
    address[3] = (uint8_t)number;
    return index >= 0;
}

bool name_pool_find(const uint8_t address[4], char *name, size_t room) {
    uint32_t number = (uint32_t)address[2] << 8 | address[3];
    if (address[0] != 198 || address[1] != 18 || number == 0 || number > POOL_SIZE)
        return false;
    pthread_mutex_lock(&lock);
    const char *found = entries[number - 1].name;
    if (found)
        snprintf(name, room, "%s", found);
    pthread_mutex_unlock(&lock);
    return found != NULL;
}
