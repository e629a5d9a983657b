/*
 * zygote_image.h - the C half of the zygotes, which is built into the engine: so it is of the same
 * build, and nothing has to be found or be readable where a zygote runs.
 */
#ifndef STEPBOX_ZYGOTE_IMAGE_H
#define STEPBOX_ZYGOTE_IMAGE_H

#include <stddef.h>

/* A shared library. */
extern const char zygote_image[];
size_t zygote_image_size(void);

#endif
