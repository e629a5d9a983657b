/*
 * multi.h - libcurl's multi handles, without the descriptors that they leave to programs started
 * later: in many versions the pair of sockets by which a handle is woken is not close-on-exec, and
 * nothing tells which it is.
 */
#ifndef STEPBOX_CORE_MULTI_H
#define STEPBOX_CORE_MULTI_H

#include <curl/curl.h>

/* As curl_multi_init(). */
CURLM *sbi_multi_new(void);

#endif
