/*
 * content_encoding.h - what the headers Accept-Encoding and Content-Encoding say.
 */
#ifndef STEPBOX_CONTENT_ENCODING_H
#define STEPBOX_CONTENT_ENCODING_H

#include <stdbool.h>

typedef enum content_encoding { CONTENT_IDENTITY, CONTENT_GZIP, CONTENT_UNKNOWN } content_encoding;

/* The encoding to answer with. It is gzip for a client that likes it better than all else it names,
 * as one does that names nothing else; HTTP clients that only list what they can decode ("gzip,
 * deflate, br") get the bytes as they are, since packing a file takes longer than a local
 * connection does to carry it. CONTENT_UNKNOWN: none will do. accept: or NULL. */
content_encoding content_encoding_choose(const char *accept);
/* Whether the bytes may be sent as they are. */
bool content_encoding_accepts_identity(const char *accept);
/* The encoding that a body has. value: or NULL. */
content_encoding content_encoding_parse(const char *value);

#endif
