/* life.c - boxes that stand still for a while: more methods of boxes. */
#include "binding.h"

/* box:start_pause() */
static int box_pause(lua_State *L) {
    struct lua_box *self = box_check(L);
    if (!self->box)
        return box_closed(L);
    struct lua_op *op = op_new(L, self->client, OP_VALUE_FLAG);
    sb_error err;
    return op_started(L, op, sb_box_pause(self->box, &err), &err);
}

/* box:start_resume(seconds to live, 0: the server's default) */
static int box_resume(lua_State *L) {
    struct lua_box *self = box_check(L);
    double timeout = luaL_checknumber(L, 2);
    if (!self->box)
        return box_closed(L);
    struct lua_op *op = op_new(L, self->client, OP_VALUE_FLAG);
    sb_error err;
    return op_started(L, op, sb_box_resume(self->box, timeout, &err), &err);
}

void life_register(lua_State *L) {
    static const luaL_Reg of_box[] = {
        {"start_pause", box_pause}, {"start_resume", box_resume}, {NULL, NULL}};
    add_methods(L, BOX_TYPE, of_box);
}
