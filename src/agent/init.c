/* init.c - see init.h */
#include "init.h"

#include "environment.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct settings {
    json_t *envs;
    const char *token, *workdir;
};

static void reply_bad_field(http_request *request, const char *field, const char *why) {
    char text[200];
    snprintf(text, sizeof text, "%.100s %s", field, why);
    agent_reply_error(request, 400, text);
}

/* What is wrong with the value of a field, or NULL. */
static const char *take_field(struct settings *settings, const char *field, json_t *value) {
    static const char *const ignored[] = {"timestamp", "defaultUser", "hyperloopIP", "lifecycleID"};
    if (json_is_null(value))
        return NULL;
    if (strcmp(field, "envVars") == 0) {
        const char *name, *fault;
        json_t *variable;
        if (!json_is_object(value))
            return "must be an object of strings";
        json_object_foreach(value, name, variable) {
            if (!json_is_string(variable))
                return "must be an object of strings";
            if ((fault = environment_fault(name, variable)))
                return fault;
        }
        settings->envs = value;
        return NULL;
    }
    const char *text = json_string_value(value);
    if (strcmp(field, "accessToken") == 0) {
        settings->token = text;
        return text ? NULL : "must be a string";
    }
    if (strcmp(field, "defaultWorkdir") == 0) {
        settings->workdir = text;
        return text && (!*text || *text == '/') ? NULL : "must be an absolute path";
    }
    /* The clock is the host's, the user is the agent's own, and the rest belongs to other engines.
     */
    for (size_t i = 0; i < sizeof ignored / sizeof *ignored; i++) {
        if (strcmp(field, ignored[i]) == 0)
            return text ? NULL : "must be a string";
    }
    return "is not a field that is known here";
}

/* Replaces a text by a copy, or by NULL when it is empty. Keeps it when out of memory: -1. */
static int replace(char **text, const char *by) {
    char *copy = *by ? strdup(by) : NULL;
    if (*by && !copy)
        return -1;
    free(*text);
    *text = copy;
    return 0;
}

static int apply(struct agent *agent, const struct settings *settings) {
    if (settings->envs && json_object_update(agent->envs, settings->envs))
        return -1;
    if (settings->token && replace(&agent->access_token, settings->token))
        return -1;
    return settings->workdir ? replace(&agent->workdir, settings->workdir) : 0;
}

bool init_is_welcome(const struct agent *agent, const http_request *request) {
    const agent_peer *peer = http_request_tag(request);
    return agent->standalone || *peer == AGENT_PEER_ENGINE;
}

void init_handle(struct agent *agent, http_request *request) {
    size_t length;
    const char *text = http_request_body(request, &length), *field, *fault;
    struct settings settings = {0};
    json_t *body, *value;
    json_error_t error;
    body = length ? json_loadb(text, length, JSON_ALLOW_NUL, &error) : json_object();
    if (!body || !json_is_object(body)) {
        reply_bad_field(request, "the body", body ? "is not an object" : error.text);
        json_decref(body);
        return;
    }
    json_object_foreach(body, field, value) {
        if ((fault = take_field(&settings, field, value))) {
            reply_bad_field(request, field, fault);
            json_decref(body);
            return;
        }
    }
    if (agent->access_token && !(settings.token && agent_token_matches(agent, settings.token)) &&
        !agent_is_authorized(agent, request))
        agent_reply_error(request, 401, "the access token is missing or wrong");
    else if (apply(agent, &settings))
        agent_reply_error(request, 500, "out of memory");
    else
        http_reply(request, 204, NULL, NULL, 0);
    json_decref(body);
}
