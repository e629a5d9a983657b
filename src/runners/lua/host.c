/* host.c - the C module of the Lua runner: luaopen_host. */
#include "host.h"

#include <sys/prctl.h>

__attribute__((visibility("default"))) int luaopen_host(lua_State *L);

int luaopen_host(lua_State *L) {
    /* Other processes of the sandbox run as the same user: the channel is not for them. */
    prctl(PR_SET_DUMPABLE, 0);
    lua_newtable(L);
    steps_add(L);
    streams_add(L);
    interrupts_add(L);
    coroutines_add(L);
    programs_add(L);
    return 1;
}
