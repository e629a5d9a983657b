/* network.c - what a sandbox may reach: an option of create, and a method of boxes. */
#include "binding.h"

sb_network field_network(lua_State *L, int table) {
    sb_network network = {.proxy = field_string(L, table, "proxy"),
                          .proxy_user = field_string(L, table, "proxy_user"),
                          .proxy_password = field_string(L, table, "proxy_password")};
    network.allow_out = field_strings(L, table, "allow_out", &network.allow_count);
    network.deny_out = field_strings(L, table, "deny_out", &network.deny_count);
    return network;
}

/* box:start_set_network({allow_out, deny_out, proxy, proxy_user, proxy_password, allow_internet})
 */
static int box_set_network(lua_State *L) {
    struct lua_box *self = box_check(L);
    luaL_checktype(L, 2, LUA_TTABLE);
    luaL_checkstack(L, 12, NULL);
    int allow_internet = field_boolean(L, 2, "allow_internet");
    sb_network network = field_network(L, 2);
    if (!self->box)
        return box_closed(L);
    struct lua_op *op = op_new(L, self->client, OP_VALUE_TRUE);
    sb_error err;
    return op_started(L, op, sb_box_set_network(self->box, &network, allow_internet, &err), &err);
}

void network_register(lua_State *L) {
    static const luaL_Reg of_box[] = {{"start_set_network", box_set_network}, {NULL, NULL}};
    add_methods(L, BOX_TYPE, of_box);
}
