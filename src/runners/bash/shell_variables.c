/* shell_variables.c - see shell_variables.h */
#include "builtin.h"
#include "shell_variables.h"

#include "bash_symbols.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct earlier {
    char *name;
    bool existed;
    struct bash_variable variable; /* its value belongs to this */
};

struct step_variables {
    size_t count;
    struct earlier earlier[];
};

static char *next(char *at) {
    return at + strlen(at) + 1;
}

char *step_variables_skip(char *at, size_t count) {
    for (size_t i = 0; i < 2 * count; i++)
        at = next(at);
    return at;
}

static bool is_fixed(const struct bash_variable *variable) {
    return variable && variable->attributes & (VARIABLE_READONLY | VARIABLE_NOT_ASSIGNED);
}

/* What bash derives from some variables: the locale, the table of programs on PATH, ... */
static void tell_bash(char *name) {
    array_needs_making = 1;
    stupidly_hack_special_variables(name);
}

/* Empties the variable's own place: what was in it is kept in `kept`. */
static void take_out(struct bash_variable *variable, struct bash_variable *kept) {
    *kept = *variable;
    variable->value = variable->exported = NULL;
    variable->dynamic_value = NULL;
    variable->assign = NULL;
    variable->attributes = 0;
}

static void set(struct earlier *earlier, char *value) {
    struct bash_variable *variable = find_global_variable_noref(earlier->name);
    earlier->existed = variable;
    if (variable)
        take_out(variable, &earlier->variable);
    else
        variable = bind_global_variable(earlier->name, value, 0);
    if (!variable)
        return;
    free(variable->value);
    variable->value = strdup(value);
    variable->attributes = VARIABLE_EXPORTED;
    tell_bash(earlier->name);
}

static void restore(struct earlier *earlier) {
    unbind_variable_noref(earlier->name);
    if (earlier->existed) {
        struct bash_variable *variable = bind_global_variable(earlier->name, "", 0);
        if (variable) {
            free(variable->value);
            free(variable->exported);
            char *name = variable->name;
            *variable = earlier->variable;
            variable->name = name;
        }
    }
    tell_bash(earlier->name);
    free(earlier->name);
}

struct step_variables *step_variables_set(char *at, size_t count, char *fault, size_t room) {
    struct step_variables *variables =
        calloc(1, sizeof *variables + count * sizeof *variables->earlier);
    char *name = at;
    for (size_t i = 0; i < count; i++, name = next(next(name))) {
        if (!is_fixed(find_global_variable_noref(name)))
            continue;
        snprintf(
            fault, room,
            "the environment variable %.100s cannot be set: it is a readonly variable of the shell",
            name);
        free(variables);
        return NULL;
    }
    if (!variables) {
        snprintf(fault, room, "no memory is left for environment variables");
        return NULL;
    }
    for (name = at; variables->count < count; name = next(next(name))) {
        struct earlier *earlier = &variables->earlier[variables->count++];
        earlier->name = strdup(name);
        set(earlier, next(name));
    }
    return variables;
}

void step_variables_restore(struct step_variables *variables) {
    while (variables->count)
        restore(&variables->earlier[--variables->count]);
    free(variables);
}
