#include "command_request.h"

#include "sandbox.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define SHELL "/bin/bash"
#define MAX_TERMINAL_SIDE 65535u
/* The protocol allows ten digits. */
#define MAX_MILLISECONDS 9999999999.0

static int add_string(json_t *to, const char *key, const char *value, sb_error *err) {
    if (value == NULL || json_object_set_new(to, key, json_string(value)) == 0) {
        return 0;
    }
    return sbi_fail(err, SB_INVALID, "%s: is not UTF-8", key);
}

/* As the shell, or the program itself, gets them. */
static json_t *args_of(const char *const *args, size_t count, sb_error *err) {
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++) {
        if (args[i] == NULL || json_array_append_new(list, json_string(args[i])) != 0) {
            json_decref(list);
            sbi_fail(err, SB_INVALID, "args: number %zu is not UTF-8", i + 1);
            return NULL;
        }
    }
    if (list == NULL) {
        sbi_no_memory(err);
    }
    return list;
}

static json_t *envs_of(const sb_command_options *options, bool is_on_terminal, sb_error *err) {
    static const sb_pair terminal[] = {
        {"TERM", "xterm-256color"}, {"LANG", "C.UTF-8"}, {"LC_ALL", "C.UTF-8"}};
    json_t *envs = sbi_pairs_to_json(options->envs, options->env_count, "envs", err);
    for (size_t i = 0; envs != NULL && is_on_terminal && i < 3; i++) {
        if (json_object_get(envs, terminal[i].name) == NULL) {
            json_object_set_new(envs, terminal[i].name, json_string(terminal[i].value));
        }
    }
    return envs;
}

static json_t *process_of(const char *command, const sb_command_options *options,
                          bool is_on_terminal, sb_error *err) {
    const char *const in_shell[] = {"-l", "-c", command}, *const interactive[] = {"-i", "-l"};
    bool is_shell = command == NULL || (is_on_terminal && command[0] == '\0');
    json_t *args = options->args != NULL ? args_of(options->args, options->arg_count, err)
                   : is_shell            ? args_of(interactive, 2, err)
                                         : args_of(in_shell, 3, err);
    if (args == NULL) {
        if (options->args == NULL) {
            sbi_fail(err, SB_INVALID, "command: is not UTF-8");
        }
        return NULL;
    }
    json_t *process = json_object();
    const char *program = options->args != NULL ? command : SHELL;
    json_t *envs = NULL;
    if (process == NULL || add_string(process, "cmd", program, err) != 0 ||
        add_string(process, "cwd", options->cwd, err) != 0 ||
        (envs = envs_of(options, is_on_terminal, err)) == NULL) {
        json_decref(process);
        json_decref(args);
        return NULL;
    }
    if (json_object_set_new(process, "args", args) != 0 ||
        json_object_set(process, "envs", envs) != 0) {
        sbi_no_memory(err);
        json_decref(process);
        process = NULL;
    }
    json_decref(envs);
    return process;
}

int sbi_check_terminal_size(unsigned cols, unsigned rows, sb_error *err) {
    if (cols < 1 || cols > MAX_TERMINAL_SIDE || rows < 1 || rows > MAX_TERMINAL_SIDE) {
        return sbi_fail(err, SB_INVALID, "%s: must be from 1 to %u",
                        cols < 1 || cols > MAX_TERMINAL_SIDE ? "cols" : "rows", MAX_TERMINAL_SIDE);
    }
    return 0;
}

static int check(const char *command, const sb_command_options *options, bool is_on_terminal,
                 sb_error *err) {
    if (command == NULL && (!is_on_terminal || options->args != NULL)) {
        return sbi_fail(err, SB_INVALID, "command: is NULL");
    }
    if (options->args != NULL && command[0] == '\0') {
        return sbi_fail(err, SB_INVALID, "command: is empty, args need a program");
    }
    if ((options->cols > 0 || options->rows > 0) &&
        sbi_check_terminal_size(options->cols, options->rows, err) != 0) {
        return -1;
    }
    if (options->cwd != NULL && options->cwd[0] == '\0') {
        return sbi_fail(err, SB_INVALID, "cwd: is empty");
    }
    return options->tag != NULL && options->tag[0] == '\0'
               ? sbi_fail(err, SB_INVALID, "tag: is empty")
               : 0;
}

json_t *sbi_command_message(const char *command, const sb_command_options *options, sb_error *err) {
    bool is_on_terminal = options->cols > 0 && options->rows > 0;
    if (check(command, options, is_on_terminal, err) != 0) {
        return NULL;
    }
    json_t *process = process_of(command, options, is_on_terminal, err);
    json_t *message = process != NULL ? json_pack("{s:o}", "process", process) : NULL;
    if (message == NULL || add_string(message, "tag", options->tag, err) != 0) {
        json_decref(message);
        return NULL;
    }
    /* A terminal is its own stdin. */
    const char *input = is_on_terminal ? "pty" : "stdin";
    if (json_object_set_new(message, input,
                            is_on_terminal ? sbi_terminal_size(options->cols, options->rows)
                                           : json_boolean(options->open_stdin)) != 0) {
        json_decref(message);
        sbi_no_memory(err);
        return NULL;
    }
    return message;
}

json_t *sbi_terminal_size(unsigned cols, unsigned rows) {
    return json_pack("{s:{s:I, s:I}}", "size", "cols", (json_int_t)cols, "rows", (json_int_t)rows);
}

int sbi_command_timeout(struct sbi_exchange *exchange, double seconds, sb_error *err) {
    double milliseconds = ceil(seconds * 1000);
    if (!(milliseconds <= MAX_MILLISECONDS)) {
        return 0;
    }
    char line[64];
    snprintf(line, sizeof line, "Connect-Timeout-Ms: %.0f", milliseconds);
    return sbi_exchange_add_header(exchange, line, err);
}

json_t *sbi_process_selector(const sb_process *process, sb_error *err) {
    json_t *selector = NULL;
    if (process == NULL) {
        sbi_fail(err, SB_INVALID, "process: is NULL");
        return NULL;
    }
    if (process->tag != NULL) {
        selector = process->tag[0] != '\0' ? json_pack("{s:s}", "tag", process->tag) : NULL;
        if (selector == NULL) {
            sbi_fail(err, SB_INVALID, "tag: is empty or not UTF-8");
        }
        return selector;
    }
    if (process->pid < 1 || process->pid > UINT32_MAX) {
        sbi_fail(err, SB_INVALID, "pid: cannot be a process's id");
        return NULL;
    }
    selector = json_pack("{s:I}", "pid", (json_int_t)process->pid);
    if (selector == NULL) {
        sbi_no_memory(err);
    }
    return selector;
}
