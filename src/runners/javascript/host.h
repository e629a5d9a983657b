/*
 * host.h - the runner's library for Node: what JavaScript has no means for.
 */
#ifndef STEPBOX_NODE_HOST_H
#define STEPBOX_NODE_HOST_H

#include "node_api.h"

void host_export(napi_env env, napi_value exports, const char *name, napi_callback call);

void channel_export(napi_env env, napi_value exports);
void interrupts_export(napi_env env, napi_value exports);

#endif
