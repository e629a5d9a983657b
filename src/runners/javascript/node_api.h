/*
 * node_api.h - the part of Node-API that the runner's libraries use. Its interface is stable over
 * Node's versions, so that no header of Node's (and no version of them) is needed to build these.
 */
#ifndef STEPBOX_NODE_API_H
#define STEPBOX_NODE_API_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct napi_env__ *napi_env;
typedef struct napi_value__ *napi_value;
typedef struct napi_callback_info__ *napi_callback_info;
typedef struct napi_threadsafe_function__ *napi_threadsafe_function;
typedef int napi_status; /* 0 is success */
typedef napi_value (*napi_callback)(napi_env env, napi_callback_info info);

#define NAPI_AUTO_LENGTH SIZE_MAX
#define NAPI_NONBLOCKING 0

napi_status napi_create_function(napi_env env, const char *name, size_t length, napi_callback call,
                                 void *data, napi_value *result);
napi_status napi_set_named_property(napi_env env, napi_value object, const char *name,
                                    napi_value value);
napi_status napi_get_cb_info(napi_env env, napi_callback_info info, size_t *count,
                             napi_value *arguments, napi_value *receiver, void **data);
napi_status napi_get_value_int32(napi_env env, napi_value value, int32_t *result);
napi_status napi_get_buffer_info(napi_env env, napi_value value, void **data, size_t *length);
napi_status napi_get_undefined(napi_env env, napi_value *result);
napi_status napi_get_boolean(napi_env env, bool value, napi_value *result);
napi_status napi_create_int32(napi_env env, int32_t value, napi_value *result);
napi_status napi_create_string_utf8(napi_env env, const char *text, size_t length,
                                    napi_value *result);
napi_status napi_throw_error(napi_env env, const char *code, const char *message);
napi_status napi_is_exception_pending(napi_env env, bool *result);
napi_status napi_get_and_clear_last_exception(napi_env env, napi_value *result);
napi_status napi_call_function(napi_env env, napi_value receiver, napi_value function, size_t count,
                               const napi_value *arguments, napi_value *result);
napi_status napi_create_threadsafe_function(
    napi_env env, napi_value function, napi_value resource, napi_value name, size_t queue,
    size_t threads, void *finalize_data, void (*finalize)(napi_env, void *, void *), void *context,
    void (*call)(napi_env env, napi_value function, void *context, void *data),
    napi_threadsafe_function *result);
napi_status napi_call_threadsafe_function(napi_threadsafe_function function, void *data, int mode);
napi_status napi_unref_threadsafe_function(napi_env env, napi_threadsafe_function function);

/* What Node calls when it has loaded the library. */
__attribute__((visibility("default"))) napi_value napi_register_module_v1(napi_env env,
                                                                          napi_value exports);

#endif
