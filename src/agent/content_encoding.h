/*
 * content_encoding.h - what the headers Accept-Encoding and Content-Encoding say.
 */
#ifndef STEPBOX_CONTENT_ENCODING_H
#define STEPBOX_CONTENT_ENCODING_H

#include <stdbool.h>

typedef enum content_encoding { CONTENT_IDENTITY, CONTENT_GZIP, CONTENT_UNKNOWN } content_encoding;

/* The encoding to answer with: of those that the client names the one it likes best, and of two it
 * likes as well the first. CONTENT_UNKNOWN: none will do. accept: or NULL. */
content_encoding content_encoding_choose(const char *accept);
/* Whether the bytes may be sent as they are. */
bool content_encoding_accepts_identity(const char *accept);
/* The encoding that a body has. value: or NULL. */
content_encoding content_encoding_parse(const char *value);

#endif
