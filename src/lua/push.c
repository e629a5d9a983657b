/* push.c - makes Lua values of what the core returns. */
#include "binding.h"

#include <string.h>

int push_failure(lua_State *L, const sb_error *err) {
    lua_pushnil(L);
    lua_pushstring(L, err->message);
    lua_pushstring(L, sb_code_name(err->code));
    return 3;
}

void set_bytes(lua_State *L, const char *name, const char *data, size_t length) {
    lua_pushlstring(L, data ? data : "", data ? length : 0);
    lua_setfield(L, -2, name);
}

void set_string(lua_State *L, const char *name, const char *value) {
    if (value) {
        lua_pushstring(L, value);
        lua_setfield(L, -2, name);
    }
}

static void set_number(lua_State *L, const char *name, double value) {
    lua_pushnumber(L, value);
    lua_setfield(L, -2, name);
}

void set_integer(lua_State *L, const char *name, int64_t value) {
    lua_pushinteger(L, (lua_Integer)value);
    lua_setfield(L, -2, name);
}

void set_boolean(lua_State *L, const char *name, bool value) {
    lua_pushboolean(L, value);
    lua_setfield(L, -2, name);
}

/* A result: its formats by name. JSON stays text, under `encoded`: lua/stepbox/result.lua decodes
 * it with the JSON library of the Lua side, so that null and empty arrays are what its users know.
 * `logs_before` is for the recording, and taken away there too.
 */
void push_result(lua_State *L, const sb_result *result) {
    lua_createtable(L, 0, (int)result->format_count + 3);
    set_boolean(L, "is_main", result->is_main);
    set_integer(L, "logs_before", (int64_t)result->logs_before);
    lua_newtable(L);
    for (size_t i = 0; i < result->format_count; i++) {
        const sb_format *format = &result->formats[i];
        lua_pushlstring(L, format->data, format->length);
        lua_setfield(L, format->kind == SB_FORMAT_JSON ? -2 : -3, format->name);
    }
    lua_setfield(L, -2, "encoded");
}

static void push_step_error(lua_State *L, const sb_step_error *error) {
    lua_createtable(L, 0, 3);
    set_bytes(L, "name", error->name, error->name_length);
    set_bytes(L, "value", error->value, error->value_length);
    set_bytes(L, "traceback", error->traceback, error->traceback_length);
}

static const char *stream_name(sb_stream stream) {
    switch (stream) {
    case SB_STDERR:
        return "stderr";
    case SB_PTY:
        return "pty";
    default:
        return "stdout";
    }
}

static void push_log(lua_State *L, const sb_log *log) {
    lua_createtable(L, 0, 3);
    lua_pushstring(L, stream_name(log->stream));
    lua_setfield(L, -2, "stream");
    set_number(L, "time", log->time);
    set_bytes(L, "text", log->data, log->length);
}

void push_execution(lua_State *L, const sb_execution *execution) {
    luaL_checkstack(L, 8, NULL);
    lua_createtable(L, 0, 13);
    set_bytes(L, "stdout", execution->out, execution->out_length);
    set_bytes(L, "stderr", execution->err, execution->err_length);
    lua_createtable(L, (int)execution->log_count, 0);
    for (size_t i = 0; i < execution->log_count; i++) {
        push_log(L, &execution->logs[i]);
        lua_rawseti(L, -2, (int)(i + 1));
    }
    lua_setfield(L, -2, "logs");
    lua_createtable(L, (int)execution->result_count, 0);
    for (size_t i = 0; i < execution->result_count; i++) {
        push_result(L, &execution->results[i]);
        lua_rawseti(L, -2, (int)(i + 1));
    }
    lua_setfield(L, -2, "results");
    set_string(L, "text", sb_execution_text(execution));
    if (execution->error) {
        push_step_error(L, execution->error);
        lua_setfield(L, -2, "error");
    }
    if (execution->execution_count >= 0)
        set_integer(L, "execution_count", execution->execution_count);
    set_number(L, "duration", execution->duration);
    /* A result that was dropped is of neither stream. */
    set_boolean(L, "truncated",
                execution->out_truncated || execution->err_truncated || execution->dropped > 0);
    set_boolean(L, "stdout_truncated", execution->out_truncated);
    set_boolean(L, "stderr_truncated", execution->err_truncated);
    if (execution->dropped > 0)
        set_integer(L, "dropped", (lua_Integer)execution->dropped);
    set_boolean(L, "restarted", execution->restarted);
}

void push_event(lua_State *L, const sb_event *event) {
    luaL_checkstack(L, 8, NULL);
    switch (event->type) {
    case SB_EVENT_OUTPUT:
        push_log(L, &event->output);
        set_string(L, "type", stream_name(event->output.stream));
        break;
    case SB_EVENT_RESULT:
        lua_createtable(L, 0, 2);
        push_result(L, event->result);
        lua_setfield(L, -2, "result");
        set_string(L, "type", "result");
        break;
    case SB_EVENT_ERROR:
        lua_createtable(L, 0, 2);
        push_step_error(L, event->error);
        lua_setfield(L, -2, "error");
        set_string(L, "type", "error");
        break;
    case SB_EVENT_DATA:
        lua_createtable(L, 0, 2);
        set_string(L, "type", "data");
        set_bytes(L, "text", event->output.data, event->output.length);
        break;
    case SB_EVENT_FILE:
        push_file_event(L, event->file);
        break;
    }
}

void push_info(lua_State *L, const sb_info *info) {
    luaL_checkstack(L, 8, NULL);
    lua_createtable(L, 0, 13);
    set_string(L, "id", info->id);
    set_string(L, "template", info->template_id);
    set_string(L, "alias", info->alias);
    set_string(L, "state", info->state);
    set_string(L, "envd_version", info->envd_version);
    set_string(L, "domain", info->domain);
    set_string(L, "details", info->details);
    set_number(L, "started_at", info->started_at);
    set_number(L, "end_at", info->end_at);
    set_integer(L, "cpu_count", info->cpu_count);
    set_integer(L, "memory_mb", info->memory_mb);
    set_integer(L, "disk_mb", info->disk_mb);
    lua_createtable(L, 0, (int)info->metadata_count);
    for (size_t i = 0; i < info->metadata_count; i++)
        set_string(L, info->metadata[i].name, info->metadata[i].value);
    lua_setfield(L, -2, "metadata");
}
