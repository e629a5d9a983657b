/*
 * language_kernels.h - the kernels of Jupyter that are installed: languages named "jupyter:NAME",
 * NAME being that of a folder with a kernel.json where Jupyter keeps them. All have one runner,
 * which talks to the kernel.
 */
#ifndef STEPBOX_LANGUAGE_KERNELS_H
#define STEPBOX_LANGUAGE_KERNELS_H

#include "language.h"

#define LANGUAGE_KERNEL_PREFIX "jupyter:"

struct language_kernels;

/* home: of the user, who may have kernels of their own. NULL when out of memory. */
struct language_kernels *language_kernels_new(const char *home);
void language_kernels_free(struct language_kernels *kernels);

/* By its normalized name, which has the prefix; NULL when there is none such. It lives as long as
 * `kernels`. */
const struct language *language_kernels_find(struct language_kernels *kernels, const char *normal);
/* Calls for each that is installed now, in no order. */
void language_kernels_each(struct language_kernels *kernels,
                           void (*each)(const struct language *language, void *user), void *user);

#endif
