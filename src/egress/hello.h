/*
 * hello.h - finds the name that a client asks for in the first bytes of its connection: the server
 * name of a TLS ClientHello, or the Host of an HTTP/1 request. Foreign bytes, read only; nothing is
 * decrypted.
 */
#ifndef STEPBOX_HELLO_H
#define STEPBOX_HELLO_H

#include <stddef.h>
#include <stdint.h>

#define HELLO_MAX 16384 /* bytes that a client may take to say it */
#define HELLO_NAME_MAX 254

typedef enum hello_result { HELLO_MORE, HELLO_DONE, HELLO_BAD } hello_result;

/* name: lower case, without a dot at the end; HELLO_BAD also when it is none, or an address. */
hello_result hello_tls(const uint8_t *bytes, size_t length, char name[HELLO_NAME_MAX]);
hello_result hello_http(const uint8_t *bytes, size_t length, char name[HELLO_NAME_MAX]);

#endif
