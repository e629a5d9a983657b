/*
 * gunzip.h - decodes gzip as it comes, one member or several.
 */
#ifndef STEPBOX_GUNZIP_H
#define STEPBOX_GUNZIP_H

#include <stdbool.h>
#include <stddef.h>

typedef struct gunzip gunzip;

/* Takes decoded bytes; -1 ends the decoding. */
typedef int gunzip_output(void *user, const char *bytes, size_t length);

/* NULL when out of memory. */
gunzip *gunzip_new(gunzip_output *output, void *user);
void gunzip_free(gunzip *decoder);

/* Returns how many bytes it took: few bytes may decode to very many, so it stops after a while, and
 * wants the rest later. -1: the bytes are not gzip (*bad), or the output ended it. */
long gunzip_feed(gunzip *decoder, const char *bytes, size_t length, bool *bad);
/* Whether all members are whole, and there is one. */
bool gunzip_is_complete(const gunzip *decoder);

#endif
