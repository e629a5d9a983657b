/* code_interpreter.c - the paths of the service, and the list of contexts. */
#include "code_interpreter.h"

#include "context.h"
#include "request_model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STRANGERS_BODY_MAX ((size_t)64 * 1024)
/* Contexts need no token: somebody could make them for ever. */
#define CONTEXTS_MAX 1000

#define TEXT "text/plain; charset=utf-8"
/* Of the context that the id "default" names. */
#define DEFAULT_LANGUAGE "python"

struct entry {
    struct entry *next;
    struct context *context;
    bool is_default; /* of its language */
};

struct code_interpreter {
    struct agent *agent;
    struct context_settings settings;
    struct entry *first; /* in the order of their making */
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
                                                      .interrupt_grace = agent->interrupt_grace};
    return interpreter;
}

void code_interpreter_free(code_interpreter *interpreter) {
    if (!interpreter)
        return;
    for (struct entry *entry = interpreter->first, *next; entry; entry = next) {
        next = entry->next;
        context_free(entry->context);
        free(entry);
    }
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

/* The context, its runner being started; NULL when out of memory. */
static struct context *add_context(code_interpreter *interpreter, const struct language *language,
                                   const char *cwd, bool is_default) {
    struct entry *entry = malloc(sizeof *entry);
    struct context *context = entry ? context_new(&interpreter->settings, language, cwd) : NULL;
    if (!context) {
        free(entry);
        return NULL;
    }
    *entry = (struct entry){.context = context, .is_default = is_default};
    struct entry **at = &interpreter->first;
    while (*at)
        at = &(*at)->next;
    *at = entry;
    return context;
}

static bool has_id(const struct entry *entry, const char *id) {
    if (strcmp(context_id(entry->context), id) == 0)
        return true;
    return entry->is_default && strcmp(id, "default") == 0 &&
           strcmp(language_name(context_language(entry->context)), DEFAULT_LANGUAGE) == 0;
}

/* Where the pointer to the entry is; NULL when there is none. */
static struct entry **find_entry(code_interpreter *interpreter, const char *id) {
    for (struct entry **at = &interpreter->first; *at; at = &(*at)->next) {
        if (has_id(*at, id))
            return at;
    }
    return NULL;
}

static struct context *default_context(code_interpreter *interpreter,
                                       const struct language *language) {
    for (struct entry *entry = interpreter->first; entry; entry = entry->next) {
        if (entry->is_default && context_language(entry->context) == language)
            return entry->context;
    }
    return add_context(interpreter, language, interpreter->settings.home, true);
}

/* The language; NULL when there is none such, and the request was answered. */
static const struct language *find_language(code_interpreter *interpreter, http_request *request,
                                            const char *name) {
    char normal[LANGUAGE_NAME_MAX];
    language_normalize(name, normal);
    const struct language *language = language_find(normal, interpreter->settings.runners);
    if (language)
        return language;
    char message[LANGUAGE_NAME_MAX + 120], short_message[LANGUAGE_NAME_MAX + 20];
    snprintf(message, sizeof message,
             "The '%s' kernel is not available. Please pick another suitable kernel instead, or "
             "install that kernel.",
             normal);
    snprintf(short_message, sizeof short_message, "%s not found", normal);
    json_t *why = json_pack("{s:s, s:s}", "message", message, "short_message", short_message);
    char *why_text = why ? json_dumps(why, 0) : NULL, text[1000];
    snprintf(text, sizeof text, "Failed to create context: %s", why_text ? why_text : "{}");
    reply_text(request, 400, text);
    free(why_text);
    json_decref(why);
    return NULL;
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
    } else if (*id && strcmp(id, "default") != 0) {
        struct entry **at = find_entry(interpreter, id);
        context = at ? (*at)->context : NULL;
        if (!context)
            reply_no_context(request, id);
    } else {
        const struct language *language = find_language(interpreter, request, name);
        context = language ? default_context(interpreter, language) : NULL;
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

static json_t *describe(const struct context *context) {
    return json_pack("{s:s, s:s, s:s}", "id", context_id(context), "language",
                     language_name(context_language(context)), "cwd", context_cwd(context));
}

static bool is_full(const code_interpreter *interpreter) {
    size_t count = 0;
    for (struct entry *entry = interpreter->first; entry; entry = entry->next)
        count++;
    return count >= CONTEXTS_MAX;
}

static void create_context(code_interpreter *interpreter, http_request *request) {
    static const model_field fields[] = {
        {"cwd", MODEL_OPTIONAL_STRING}, {"language", MODEL_OPTIONAL_STRING}, {0}};
    json_t *body = model_read(request, fields);
    if (!body)
        return;
    const struct language *language =
        find_language(interpreter, request, model_string(body, "language"));
    if (language && is_full(interpreter)) {
        reply_text(request, 429, "There are too many contexts: delete some first");
    } else if (language) {
        const char *cwd = model_string(body, "cwd");
        struct context *context =
            add_context(interpreter, language, *cwd ? cwd : interpreter->settings.home, false);
        if (context)
            http_reply_json(request, 200, describe(context));
        else
            reply_out_of_memory(request);
    }
    json_decref(body);
}

static void list_contexts(code_interpreter *interpreter, http_request *request) {
    json_t *list = json_array();
    for (struct entry *entry = interpreter->first; entry; entry = entry->next)
        json_array_append_new(list, describe(entry->context));
    http_reply_json(request, 200, list);
}

static void delete_context(code_interpreter *interpreter, http_request *request, const char *id) {
    struct entry **at = find_entry(interpreter, id);
    if (!at) {
        reply_no_context(request, id);
        return;
    }
    struct entry *entry = *at;
    *at = entry->next;
    context_free(entry->context);
    free(entry);
    http_reply_json(request, 200, json_null());
}

static void restart_context(code_interpreter *interpreter, http_request *request, const char *id) {
    struct entry **at = find_entry(interpreter, id);
    if (!at) {
        reply_no_context(request, id);
        return;
    }
    context_restart((*at)->context);
    http_reply_json(request, 200, json_null());
}

static void interrupt_context(code_interpreter *interpreter, http_request *request,
                              const char *id) {
    struct entry **at = find_entry(interpreter, id);
    /* The default context exists for its users also before its first step. */
    if (at || strcmp(id, "default") == 0) {
        bool interrupted = at && context_interrupt((*at)->context);
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

/* Sets *known when the path exists with another method. */
static bool route_context(code_interpreter *interpreter, http_request *request, const char *rest,
                          bool *known) {
    size_t length = strcspn(rest, "/");
    for (size_t i = 0; length && i < COUNT(context_routes); i++) {
        if (strcmp(rest + length, context_routes[i].suffix) != 0)
            continue;
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
