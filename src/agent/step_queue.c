#include "step_queue.h"

void step_queue_add(step_queue *queue, struct step *step) {
    if (queue->last)
        queue->last->next = step;
    else
        queue->first = step;
    queue->last = step;
}

struct step *step_queue_take(step_queue *queue) {
    struct step *step = queue->first;
    if (step)
        step_queue_remove(queue, step);
    return step;
}

void step_queue_remove(step_queue *queue, struct step *step) {
    struct step **at = &queue->first;
    queue->last = NULL;
    while (*at) {
        if (*at == step) {
            *at = step->next;
        } else {
            queue->last = *at;
            at = &(*at)->next;
        }
    }
    step->next = NULL;
}
