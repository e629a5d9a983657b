#include "rpc.h"

#include <stdlib.h>

/* What the getters give points into the answer, which is kept. */
struct list {
    sb_box *box;
    json_t *answer;
    sb_process_info *infos;
    size_t count;
};

static void release(sb_op *op) {
    struct list *list = op->data;
    for (size_t i = 0; i < list->count; i++) {
        free((void *)list->infos[i].args);
        free((void *)list->infos[i].envs);
    }
    free(list->infos);
    json_decref(list->answer);
    sbi_box_release(list->box);
    free(list);
}

static const struct sbi_op_kind list_kind = {.name = "list processes", .release = release};

static int read_args(sb_process_info *info, const json_t *args, sb_error *err) {
    const json_t *arg;
    size_t i, count = json_array_size(args);
    const char **strings = calloc(count + 1, sizeof *strings);
    if (strings == NULL) {
        return sbi_no_memory(err);
    }
    info->args = strings;
    json_array_foreach(args, i, arg) {
        if ((strings[i] = json_string_value(arg)) == NULL) {
            return sbi_fail(err, SB_PROTOCOL, "an argument that is no string");
        }
    }
    info->arg_count = count;
    return 0;
}

static int read_envs(sb_process_info *info, json_t *envs, sb_error *err) {
    const char *name;
    json_t *value;
    sb_pair *pairs = calloc(json_object_size(envs) + 1, sizeof *pairs);
    if (pairs == NULL) {
        return sbi_no_memory(err);
    }
    info->envs = pairs;
    json_object_foreach(envs, name, value) {
        if (!json_is_string(value)) {
            return sbi_fail(err, SB_PROTOCOL, "a variable that is no string");
        }
        pairs[info->env_count++] = (sb_pair){name, json_string_value(value)};
    }
    return 0;
}

static int read_info(sb_process_info *info, const json_t *process, sb_error *err) {
    const json_t *config = json_object_get(process, "config");
    const char *command = json_string_value(json_object_get(config, "cmd"));
    info->pid = json_integer_value(json_object_get(process, "pid"));
    info->tag = json_string_value(json_object_get(process, "tag"));
    info->command = command != NULL ? command : ""; /* left out when empty */
    info->cwd = json_string_value(json_object_get(config, "cwd"));
    if (info->pid <= 0) {
        return sbi_fail(err, SB_PROTOCOL, "a process without an id");
    }
    return read_args(info, json_object_get(config, "args"), err) != 0
               ? -1
               : read_envs(info, json_object_get(config, "envs"), err);
}

static int read_answer(struct list *list, sb_error *err) {
    const json_t *processes = json_object_get(list->answer, "processes"), *process;
    size_t i;
    if (processes != NULL && !json_is_array(processes)) {
        return sbi_fail(err, SB_PROTOCOL, "the processes are no list");
    }
    list->infos = calloc(json_array_size(processes) + 1, sizeof *list->infos);
    if (list->infos == NULL) {
        return sbi_no_memory(err);
    }
    json_array_foreach(processes, i, process) {
        list->count = i + 1;
        if (read_info(&list->infos[i], process, err) != 0) {
            return -1;
        }
    }
    return 0;
}

static void on_listed(void *user, struct sbi_exchange *exchange) {
    sb_op *op = user;
    struct list *list = op->data;
    sb_error error = {0};
    list->answer = sbi_rpc_answer(exchange, SB_NOT_FOUND, &error);
    if (list->answer != NULL) {
        read_answer(list, &error);
    }
    sbi_box_explain_closed(list->box, &error);
    sbi_op_finish(op, &error);
}

sb_op *sb_process_list(sb_box *box, sb_error *err) {
    sb_op *op = sbi_op_new_sized(box->loop, &list_kind, sizeof(struct list), err);
    if (op == NULL) {
        return NULL;
    }
    struct list *list = op->data;
    list->box = sbi_box_keep(box);
    if (sbi_box_refuses(box, op)) {
        return op;
    }
    return sbi_rpc_start(op, box, NULL, "/process.Process/List", json_object(), on_listed, err);
}

/* The list of a finished call, or NULL. */
static const struct list *list_of(const sb_op *op) {
    return op->kind == &list_kind && op->done && op->error.code == SB_OK ? op->data : NULL;
}

size_t sb_op_process_count(const sb_op *op) {
    const struct list *list = list_of(op);
    return list != NULL ? list->count : 0;
}

const sb_process_info *sb_op_process(const sb_op *op, size_t index) {
    const struct list *list = list_of(op);
    return list != NULL && index < list->count ? &list->infos[index] : NULL;
}
