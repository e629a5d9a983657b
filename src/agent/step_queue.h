/*
 * step_queue.h - the steps that wait for their context, first come first.
 */
#ifndef STEPBOX_STEP_QUEUE_H
#define STEPBOX_STEP_QUEUE_H

#include "step.h"

/* Starts zeroed. */
typedef struct step_queue {
    struct step *first, *last;
} step_queue;

void step_queue_add(step_queue *queue, struct step *step);
/* The first, which is in the queue no more; NULL when none waits. */
struct step *step_queue_take(step_queue *queue);
/* One that is somewhere in it. */
void step_queue_remove(step_queue *queue, struct step *step);

#endif
