/* steps.c - the channel: takes steps from the agent, and tells it what became of them. */
#include "host.h"

#include "line.h"
#include "request.h"
#include "step_environment.h"
#include "wire.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct wire wire;
static pid_t process; /* that the channel belongs to */
static bool in_step;
static int count;
/* Who wrote last in this step: a stream, somebody else (0), or nobody. */
#define NOBODY (-1)
static int writer;

bool step_is_ours(void) {
    return getpid() == process;
}

static void send_text(const char *text) {
    wire_send(&wire, text, strlen(text));
}

static struct request read_request(void) {
    size_t length;
    char *line;
    while (!(line = wire_next(&wire, &length))) {
        if (!wire_fill(&wire))
            return (struct request){0};
    }
    struct request request = request_read(line, length);
    if (request.type == REQUEST_UNKNOWN)
        fprintf(stderr, "the Lua runner cannot read what the agent sent\n");
    return request;
}

void step_turn_to(int stream) {
    if (in_step && step_is_ours() && writer != NOBODY && (writer != stream || !stream)) {
        send_text("{\"type\": \"drain\"}\n");
        struct request answer = read_request();
        request_free(&answer);
    }
    writer = stream;
}

/* Sends an event, and takes its memory. What is written after it must not overtake it. */
static int send_event(lua_State *L, struct line *line) {
    bool failed = line->failed;
    if (!failed && step_is_ours())
        wire_send(&wire, line->bytes, line->length);
    line_free(line);
    writer = 0;
    return failed ? luaL_error(L, "not enough memory") : 0;
}

static void add_member(lua_State *L, struct line *line, const char *name, int index) {
    size_t length;
    const char *bytes = luaL_checklstring(L, index, &length);
    line_add_text(line, ", \"");
    line_add_text(line, name);
    line_add_text(line, "\": ");
    line_add_string(line, bytes, length);
}

/* result(TEXT, JSON or nil) */
static int result(lua_State *L) {
    struct line line = {0};
    size_t length;
    luaL_checkstring(L, 1);
    const char *json = luaL_optlstring(L, 2, NULL, &length);
    line_add_text(&line, "{\"type\": \"result\"");
    add_member(L, &line, "text", 1);
    if (json) {
        line_add_text(&line, ", \"json\": ");
        line_add(&line, json, length);
    }
    line_add_text(&line, ", \"extra\": {}, \"is_main_result\": true}\n");
    return send_event(L, &line);
}

/* error(NAME, VALUE, TRACEBACK) */
static int error(lua_State *L) {
    struct line line = {0};
    for (int i = 1; i <= 3; i++)
        luaL_checkstring(L, i);
    line_add_text(&line, "{\"type\": \"error\"");
    add_member(L, &line, "name", 1);
    add_member(L, &line, "value", 2);
    add_member(L, &line, "traceback", 3);
    line_add_text(&line, "}\n");
    return send_event(L, &line);
}

/* quote(STRING): as JSON, in ASCII */
static int quote(lua_State *L) {
    struct line line = {0};
    size_t length;
    const char *bytes = luaL_checklstring(L, 1, &length);
    line_add_string(&line, bytes, length);
    if (!line.failed)
        lua_pushlstring(L, line.bytes, line.length);
    line_free(&line);
    return line.failed ? luaL_error(L, "not enough memory") : 1;
}

static void begin_step(void) {
    char text[80];
    snprintf(text, sizeof text, "{\"type\": \"number_of_executions\", \"execution_count\": %d}\n",
             ++count);
    in_step = true;
    writer = NOBODY;
    interrupts_expect(true);
    send_text(text);
}

/* Ends the step; `exits` when this process ends with it. */
static void end_step(bool exits) {
    fflush(stdout);
    fflush(stderr);
    in_step = false;
    send_text(exits ? "{\"type\": \"end\", \"exit\": true}\n" : "{\"type\": \"end\"}\n");
}

/* next(): CODE, NUMBER of the next step, its variables set; nil, NUMBER, FAULT when they cannot be;
 * nothing when there will be no more. */
static int next(lua_State *L) {
    char text[REQUEST_FAULT_MAX];
    struct request request;
    do {
        request = read_request();
        if (request.type != REQUEST_RUN && request.type != REQUEST_DRAINED)
            return 0;
        if (request.type == REQUEST_DRAINED)
            request_free(&request);
    } while (request.type != REQUEST_RUN);
    begin_step();
    const char *fault = request_env_fault(&request, text);
    if (!fault && !step_environment_set(request.env))
        fault = "no memory is left for environment variables";
    if (fault)
        lua_pushnil(L);
    else
        lua_pushlstring(L, json_string_value(request.code), json_string_length(request.code));
    lua_pushinteger(L, count);
    lua_pushstring(L, fault);
    request_free(&request);
    return 3;
}

/* finish(): the step has ended, and its variables with it */
static int finish(lua_State *L) {
    (void)L;
    step_environment_restore();
    interrupts_expect(false);
    end_step(false);
    return 0;
}

/* os.exit() and its like end the step as well. */
static void on_exit_of_process(void) {
    if (in_step && step_is_ours())
        end_step(true);
}

/* open(FD): takes the channel over */
static int open_channel(lua_State *L) {
    if (wire_open(&wire, (int)luaL_checkinteger(L, 1)))
        return luaL_error(L, "the channel cannot be used");
    process = getpid();
    atexit(on_exit_of_process);
    return 0;
}

/* ready() */
static int ready(lua_State *L) {
    (void)L;
    send_text("{\"type\": \"ready\"}\n");
    return 0;
}

static int is_ours(lua_State *L) {
    lua_pushboolean(L, step_is_ours());
    return 1;
}

void steps_add(lua_State *L) {
    static const luaL_Reg functions[] = {
        {"open", open_channel}, {"ready", ready},     {"next", next},
        {"result", result},     {"error", error},     {"quote", quote},
        {"finish", finish},     {"is_ours", is_ours}, {NULL, NULL},
    };
    luaL_setfuncs(L, functions, 0);
}
