/*
 * shell.c - the loop of the shell whose state is kept: takes a step, runs it, says how it ended.
 *
 * It is a builtin that never returns, and takes the place of bash's own loop (the one that reads a
 * script): what ends a command by a jump, comes here.
 */
#include "builtin.h"
#include "shared_step.h"
#include "shell_interrupts.h"
#include "shell_syntax.h"
#include "shell_variables.h"

#include "bash_symbols.h"
#include "high_descriptor.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct shared_step *step;
static pid_t shell, supervisor;
static sigset_t signals_blocked; /* at the top level */

/* Descriptors that the code has closed are opened again: 0 as empty, 1 and 2 as they were. */
static void repair_descriptors(void) {
    static int kept[3] = {-1, -1, -1};
    for (int fd = 0; fd < 3; fd++) {
        if (kept[fd] < 0)
            kept[fd] = high_descriptor(fd, 900);
        if (fcntl(fd, F_GETFD) < 0 && errno == EBADF && kept[fd] >= 0)
            dup2(kept[fd], fd);
    }
}

static void wait_for_turn(void) {
    __atomic_store_n(&step->turn, TURN_SUPERVISOR, __ATOMIC_SEQ_CST);
    kill(supervisor, SHARED_DONE);
    while (__atomic_load_n(&step->turn, __ATOMIC_SEQ_CST) != TURN_SHELL)
        syscall(SYS_futex, &step->turn, FUTEX_WAIT, TURN_SUPERVISOR, NULL, NULL, 0);
}

/* Lines that all end in CRLF come from another system; one that ends otherwise shows that the
 * carriage returns are meant. */
static void mend_line_ends(char *code) {
    size_t length = 0;
    for (char *end = code; (end = strchr(end, '\n')); end++) {
        if (end == code || end[-1] != '\r')
            return;
    }
    for (char *at = code; *at; at++) {
        if (!(*at == '\r' && at[1] == '\n'))
            code[length++] = *at;
    }
    code[length] = '\0';
}

static void tell_error(const char *name, const char *value, const char *text, size_t length) {
    step->outcome = OUTCOME_ERROR;
    snprintf(step->name, sizeof step->name, "%s", name);
    snprintf(step->value, sizeof step->value, "%s", value);
    memmove(step->text, text, length);
    step->text_length = (uint32_t)length;
}

/* Bash writes "bash: line 3: syntax error ...", and the line on a line of its own. */
static void tell_syntax_error(size_t length) {
    char value[sizeof step->value];
    const char *end = memchr(step->text, '\n', length);
    size_t first = end ? (size_t)(end - step->text) : length;
    const char *begin = step->text;
    size_t prefix = strlen(SHELL_NAME ": ");
    if (first > prefix && strncmp(begin, SHELL_NAME ": ", prefix) == 0) {
        begin += prefix;
        first -= prefix;
    }
    snprintf(value, sizeof value, "%.*s", (int)(first < sizeof value ? first : sizeof value - 1),
             begin);
    tell_error("SyntaxError", value, step->text, length);
    last_command_exit_value = 2; /* as bash has it */
}

/* The code's own trap runs, for cleaning up. It cannot go on: the step is over. */
static void run_users_trap(void) {
    interrupt_state = 0;
    if (signal_is_trapped(SIGINT) && !signal_is_ignored(SIGINT) && sigsetjmp(top_level, 0) == 0)
        run_interrupt_trap(0);
}

/* A pipeline that was not whole would go on with the next command: its processes become a job.
 * Nobody else can interrupt them any more. */
static void end_pipeline(void) {
    if (!already_making_children)
        return;
    stop_pipeline(1, NULL);
    const struct bash_process *first = js.last_made ? js.last_made->processes : NULL;
    const struct bash_process *process = first;
    while (process && shell_is_interrupted()) {
        kill(process->pid, SIGINT);
        process = process->next == first ? NULL : process->next;
    }
}

/* Ends what a jump has left. Some errors end a shell that runs a script, and so they do here. */
static void after_jump(int code) {
    if (getpid() != shell)
        exit_shell(last_command_exit_value);
    unlink_fifo_list();
    end_pipeline();
    sigprocmask(SIG_SETMASK, &signals_blocked, NULL);
    if (shell_is_interrupted())
        return;
    if (code == JUMP_DISCARD || code == JUMP_FORCE_EOF) {
        if (last_command_exit_value == 0)
            last_command_exit_value = 1;
        return;
    }
    if (code == JUMP_ERREXIT)
        fprintf(stderr, SHELL_NAME ": set -e has ended the shell; the next step gets a new one\n");
    exit_shell(last_command_exit_value);
}

static void run(const char *code) {
    static volatile int status;
    status = 0;
    int jump = sigsetjmp(top_level, 0);
    if (jump) {
        after_jump(jump);
        status = last_command_exit_value;
    } else {
        status = parse_and_execute(strdup(code), SHELL_NAME,
                                   SEVAL_NOHIST | SEVAL_NOHISTEXP | SEVAL_RESETLINE);
    }
    if (getpid() != shell)
        exit_shell(status);
    step->status = last_command_exit_value = status;
}

static void take_step(void) {
    static struct step_variables *variables;
    size_t length;
    char fault[256];
    char *code = step_variables_skip(step->data, step->variables);
    read_but_dont_execute =
        0; /* set -n cannot be taken back by code, which it keeps from running */
    mend_line_ends(code);
    variables = step_variables_set(step->data, step->variables, fault, sizeof fault);
    if (!variables) {
        tell_error("ValueError", fault, "", 0);
        return;
    }
    shell_interrupts_arm(true);
    if (shell_syntax_is_right(code, step->text, sizeof step->text, &length))
        run(code);
    else
        tell_syntax_error(length);
    if (shell_is_interrupted()) {
        run_users_trap();
        step->outcome = OUTCOME_INTERRUPTED;
        shell_interrupts_list_background();
        last_command_exit_value = 128 + SIGINT;
    }
    shell_interrupts_arm(false);
    step_variables_restore(variables);
}

static void put_first(const char *array, char *value) {
    struct bash_variable *variable = find_global_variable_noref(array);
    if (variable && variable->value)
        array_insert(variable->value, 0, value);
}

/* Functions are named after where they were defined in messages; at the top level of scripts it is
 * the same as $0, which many a script asks. */
static void name_source(void) {
    put_first("BASH_SOURCE", SHELL_NAME);
    put_first("BASH_LINENO", "0");
    put_first("FUNCNAME", "main");
}

static void become_top_level(void) {
    clear_unwind_protect_list(0); /* what this builtin's caller would clean up: it will not go on */
    remember_args(NULL, 1);
    unbind_variable_noref("BASH_EXECUTION_STRING");
    name_source();
    parse_and_execute_level = 0;
    executing_builtin = 0;
    indirection_level = 0;
    this_shell_builtin = NULL;
    last_command_exit_value = 0;
    startup_state = 0; /* not that of `bash -c`, which does not fork for its last command */
}

static int serve(struct bash_words *words) {
    if (shell || !words || !words->next || words->next->next)
        return 2;
    int memory = atoi(words->word->text);
    supervisor = atoi(words->next->word->text);
    step = mmap(NULL, sizeof *step, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, memory, 0);
    if (step == MAP_FAILED || madvise(step, sizeof *step, MADV_DONTFORK)) {
        perror("the bash runner cannot start");
        return 1;
    }
    close(memory);
    shell = getpid();
    become_top_level();
    shell_interrupts_reset(step, supervisor);
    sigprocmask(SIG_SETMASK, NULL, &signals_blocked);
    for (;;) {
        shell_interrupts_reset(step, supervisor);
        fflush(stdout);
        wait_for_turn();
        repair_descriptors();
        take_step();
        if (temporary_env)
            dispose_used_env_vars();
    }
}

static const char *const documentation[] = {"Runs the steps of a context.", NULL};

extern struct bash_builtin stepbox_shell_struct BASH_FINDS;
struct bash_builtin stepbox_shell_struct = {
    .name = "stepbox_shell",
    .function = serve,
    .flags = BASH_BUILTIN_ENABLED,
    .long_doc = documentation,
    .short_doc = "stepbox_shell MEMORY SUPERVISOR",
};
