/* host.c - see host.h */
#include "host.h"

void host_export(napi_env env, napi_value exports, const char *name, napi_callback call) {
    napi_value function;
    if (napi_create_function(env, name, NAPI_AUTO_LENGTH, call, NULL, &function) == 0)
        napi_set_named_property(env, exports, name, function);
}

napi_value napi_register_module_v1(napi_env env, napi_value exports) {
    channel_export(env, exports);
    interrupts_export(env, exports);
    return exports;
}
