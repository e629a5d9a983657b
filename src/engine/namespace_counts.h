/*
 * namespace_counts.h - how many of the kernel's objects the user namespace of a sandbox may have.
 *
 * The kernel counts them for each user of a namespace, and once more for its owner outside, who is
 * the same for all sandboxes: without a limit of its own, one sandbox takes those of all.
 */
#ifndef STEPBOX_NAMESPACE_COUNTS_H
#define STEPBOX_NAMESPACE_COUNTS_H

#include <stdbool.h>

/* Of the namespace that the caller is root of; `root` of the sandbox may not raise them. nested:
 * whether there may be further ones. 0, or -1 with errno when those cannot be forbidden. */
int namespace_counts_limit(bool nested);

#endif
