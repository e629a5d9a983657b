/* code_interpreter.c - the paths of the service, and the list of contexts. */
#include "code_interpreter.h"

#include "context_list.h"
#include "language_service.h"
#include "path.h"
#include "request_model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STRANGERS_BODY_MAX ((size_t)64 * 1024)

#define TEXT "text/plain; charset=utf-8"

struct code_interpreter {
    struct agent *agent;
    struct context_settings settings;
    struct context_list *contexts;
    struct language_kernels *kernels;
};

code_interpreter *code_interpreter_new(struct agent *agent) {
    code_interpreter *interpreter = calloc(1, sizeof *interpreter);
    if (!interpreter)
        return NULL;
    interpreter->agent = agent;
    interpreter->settings = (struct context_settings){.loop = agent->loop,
                                                      .runners = agent->runners,
                                                      .home = agent->home,
                                                      .envs = &agent->envs,
                                                      .source = agent->runner_source,
                                                      .output = agent->output,
                                                      .interrupt_grace = agent->interrupt_grace};
    interpreter->contexts = context_list_new(&interpreter->settings);
    interpreter->kernels = language_kernels_new(agent->home);
    if (interpreter->contexts && interpreter->kernels)
        return interpreter;
    code_interpreter_free(interpreter);
    return NULL;
}

void code_interpreter_free(code_interpreter *interpreter) {
    if (!interpreter)
        return;
    context_list_free(interpreter->contexts);
    language_kernels_free(interpreter->kernels);
    free(interpreter);
}

static void reply_text(http_request *request, int status, const char *text) {
    http_reply(request, status, TEXT, text, strlen(text));
}

static void reply_detail(http_request *request, int status, const char *text) {
    http_reply_json(request, status, json_pack("{s:s}", "detail", text));
}

static void reply_out_of_memory(http_request *request) {
    reply_text(request, 503, "Failed to create context: out of memory");
}

static const struct language *find_language(code_interpreter *interpreter, http_request *request,
                                            const json_t *body) {
    return language_of_request(interpreter->kernels, interpreter->settings.runners,
                               model_string(body, "language"), request);
}

static void reply_no_context(http_request *request, const char *id) {
    size_t size = strlen(id) + 40;
    char *text = malloc(size);
    if (text)
        snprintf(text, size, "Context %s not found", id);
    reply_text(request, 404, text ? text : "Context not found");
    free(text);
}

static void execute(code_interpreter *interpreter, http_request *request) {
    static const model_field fields[] = {{"code", MODEL_STRING},
                                         {"context_id", MODEL_OPTIONAL_STRING},
                                         {"language", MODEL_OPTIONAL_STRING},
                                         {"env_vars", MODEL_OPTIONAL_ENVS},
                                         {0}};
    json_t *body = model_read(request, fields);
    if (!body)
        return;
    const char *id = model_string(body, "context_id"), *name = model_string(body, "language");
    struct context *context = NULL;
    bool answered = true;
    if (*id && *name) {
        reply_text(request, 400, "Only one of context_id or language can be provided");
    } else if (*id && strcmp(id, CONTEXT_DEFAULT_ID) != 0) {
        context = context_list_find(interpreter->contexts, id);
        if (!context)
            reply_no_context(request, id);
    } else {
        const struct language *language = find_language(interpreter, request, body);
        context = language ? context_list_default(interpreter->contexts, language) : NULL;
        answered = !language;
    }
    if (context) {
        json_t *envs = json_object_get(body, "env_vars");
        context_run(context, request, json_object_get(body, "code"),
                    json_is_object(envs) ? envs : NULL);
    } else if (!answered) {
        reply_out_of_memory(request);
    }
    json_decref(body);
}

/* The directory that a context begins in, to be freed; a relative one is in the home directory.
 * NULL when it has answered. */
static char *read_cwd(const code_interpreter *interpreter, http_request *request,
                      const json_t *body) {
    const json_t *cwd = json_object_get(body, "cwd");
    const char *path = interpreter->settings.home, *fault;
    size_t length = json_string_length(cwd);
    if (length > 0)
        path = json_string_value(cwd);
    else
        length = strlen(path);
    char *resolved = path_resolve(interpreter->agent, path, length, &fault);
    if (!resolved) {
        char text[160];
        snprintf(text, sizeof text, "cwd: %s", fault);
        reply_text(request, 400, text);
    }
    return resolved;
}

static void create_context(code_interpreter *interpreter, http_request *request) {
    /* The variables are our own addition to the official server's fields. */
    static const model_field fields[] = {{"cwd", MODEL_OPTIONAL_STRING},
                                         {"language", MODEL_OPTIONAL_STRING},
                                         {"env_vars", MODEL_OPTIONAL_ENVS},
                                         {0}};
    json_t *body = model_read(request, fields);
    if (!body)
        return;
    const struct language *language = find_language(interpreter, request, body);
    if (language && context_list_is_full(interpreter->contexts)) {
        reply_text(request, 429, "There are too many contexts: delete some first");
    } else if (language) {
        char *cwd = read_cwd(interpreter, request, body);
        const json_t *envs = json_object_get(body, "env_vars");
        struct context *context = cwd ? context_list_add(interpreter->contexts, language, cwd,
                                                         json_is_object(envs) ? envs : NULL)
                                      : NULL;
        if (context)
            http_reply_json(request, 200, context_describe(context));
        else if (cwd)
            reply_out_of_memory(request);
        free(cwd);
    }
    json_decref(body);
}

static void list_contexts(code_interpreter *interpreter, http_request *request) {
    http_reply_json(request, 200, context_list_describe(interpreter->contexts));
}

static void list_languages(code_interpreter *interpreter, http_request *request) {
    http_reply_json(request, 200,
                    language_list(interpreter->kernels, interpreter->settings.runners));
}

static void delete_context(code_interpreter *interpreter, http_request *request, const char *id) {
    if (context_list_remove(interpreter->contexts, id))
        http_reply_json(request, 200, json_null());
    else
        reply_no_context(request, id);
}

static void restart_context(code_interpreter *interpreter, http_request *request, const char *id) {
    struct context *context = context_list_find(interpreter->contexts, id);
    if (!context) {
        reply_no_context(request, id);
        return;
    }
    context_restart(context);
    http_reply_json(request, 200, json_null());
}

static void interrupt_context(code_interpreter *interpreter, http_request *request,
                              const char *id) {
    struct context *context = context_list_find(interpreter->contexts, id);
    /* The default context exists for its users also before its first step. */
    if (context || strcmp(id, CONTEXT_DEFAULT_ID) == 0) {
        bool interrupted = context && context_interrupt(context);
        http_reply_json(request, 200, json_pack("{s:b}", "interrupted", interrupted));
    } else {
        reply_no_context(request, id);
    }
}

static void reply_health(code_interpreter *interpreter, http_request *request) {
    (void)interpreter;
    http_reply_json(request, 200, json_string("OK"));
}

struct route {
    const char *method, *path;
    void (*handle)(code_interpreter *interpreter, http_request *request);
};

static const struct route routes[] = {
    {"GET", "/health", reply_health},
    {"POST", "/execute", execute},
    {"POST", "/contexts", create_context},
    {"GET", "/contexts", list_contexts},
    {"GET", "/contexts/languages", list_languages},
};

/* Below /contexts/ID. */
static const struct {
    const char *method, *suffix;
    void (*handle)(code_interpreter *interpreter, http_request *request, const char *id);
} context_routes[] = {
    {"DELETE", "", delete_context},
    {"POST", "/restart", restart_context},
    {"POST", "/interrupt", interrupt_context},
};

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* Sets *known when the path exists with another method. An id may be anything, slashes in it too:
 * that there is no such context is for the handler to say, and not that there is no such call. */
static bool route_context(code_interpreter *interpreter, http_request *request, const char *rest,
                          bool *known) {
    size_t whole = strlen(rest);
    for (size_t i = COUNT(context_routes); i-- > 0;) {
        const char *suffix = context_routes[i].suffix;
        size_t length = whole - strlen(suffix);
        if (whole <= strlen(suffix) || strcmp(rest + length, suffix) != 0)
            continue;
        if (!memchr(rest, '/', length))
            *known = true;
        if (strcmp(http_request_method(request), context_routes[i].method) != 0)
            continue;
        char *id = strndup(rest, length);
        if (id)
            context_routes[i].handle(interpreter, request, id);
        else
            reply_out_of_memory(request);
        free(id);
        return true;
    }
    return false;
}

/* What a browser asks before it sends a request of another origin. */
static void reply_preflight(http_request *request, const char *headers) {
    http_reply_header(request, "Access-Control-Allow-Methods",
                      "DELETE, GET, HEAD, OPTIONS, PATCH, POST, PUT");
    http_reply_header(request, "Access-Control-Max-Age", "600");
    if (headers)
        http_reply_header(request, "Access-Control-Allow-Headers", headers);
    reply_text(request, 200, "OK");
}

/* What runs code, or stops it. E2B's own clients make, list, restart and delete contexts without a
 * token. */
static bool needs_token(const char *path) {
    const char *end = strrchr(path, '/');
    return strcmp(path, "/execute") == 0 || (end && strcmp(end, "/interrupt") == 0);
}

static bool sends_much(const http_request *request) {
    const char *length = http_request_header(request, "Content-Length");
    return http_request_header(request, "Transfer-Encoding") ||
           (length && strtoull(length, NULL, 10) > STRANGERS_BODY_MAX);
}

/* Who may not ask is told so before the body comes: little of a stranger's is kept. */
void code_interpreter_head(http_request *request, void *user) {
    const code_interpreter *interpreter = user;
    const char *method = http_request_method(request);
    agent_prepare_reply(request);
    if (http_request_header(request, "Origin")) {
        http_reply_header(request, "Access-Control-Allow-Origin", "*");
        if (strcmp(method, "OPTIONS") == 0 &&
            http_request_header(request, "Access-Control-Request-Method")) {
            reply_preflight(request,
                            http_request_header(request, "Access-Control-Request-Headers"));
            return;
        }
    }
    if (agent_is_authorized(interpreter->agent, request))
        return;
    http_reply_to_stranger(request);
    if (needs_token(http_request_path(request)))
        reply_detail(request, 401, "The access token is missing or wrong");
    else if (sends_much(request))
        reply_detail(request, 413, "Without the access token, a body has at most 64 KiB");
}

void code_interpreter_handle(http_request *request, void *user) {
    code_interpreter *interpreter = user;
    const char *method = http_request_method(request), *path = http_request_path(request);
    bool known = false;
    for (size_t i = 0; i < COUNT(routes); i++) {
        if (strcmp(path, routes[i].path) != 0)
            continue;
        known = true;
        if (strcmp(method, routes[i].method) == 0) {
            routes[i].handle(interpreter, request);
            return;
        }
    }
    if (strncmp(path, "/contexts/", 10) == 0 &&
        route_context(interpreter, request, path + 10, &known))
        return;
    reply_detail(request, known ? 405 : 404, known ? "Method Not Allowed" : "Not Found");
}
