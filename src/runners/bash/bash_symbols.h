/*
 * bash_symbols.h - the parts of bash itself that the shell's loop uses.
 *
 * Bash exports them to libraries of builtins. They are declared here because few systems have a
 * package of its headers; all have been the same from bash 5.1 to 5.3.
 */
#ifndef STEPBOX_BASH_SYMBOLS_H
#define STEPBOX_BASH_SYMBOLS_H

#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <sys/types.h>

/* Running code. The string is bash's afterwards. */
extern int parse_and_execute(char *string, const char *from_file, int flags);
#define SEVAL_NOHIST 0x004
#define SEVAL_RESETLINE 0x010
#define SEVAL_NOHISTEXP 0x200
extern int parse_and_execute_level;
extern int read_but_dont_execute; /* set -n */
extern int extended_glob;         /* shopt -s extglob: decides about syntax, too */
extern int last_command_exit_value;
extern void exit_shell(int status) __attribute__((noreturn));

/* Where errors that end a command jump to, and with what. */
extern sigjmp_buf top_level;
#define JUMP_DISCARD 2
#define JUMP_FORCE_EOF 1
#define JUMP_ERREXIT 4

/* What a shell is in the middle of. */
extern void clear_unwind_protect_list(int release);
extern void unlink_fifo_list(void);
extern void dispose_used_env_vars(void);
extern int executing_builtin, indirection_level, startup_state, loop_level;
extern void *this_shell_builtin, *temporary_env;
extern int interactive, interactive_shell;

/* Signals. */
extern volatile sig_atomic_t interrupt_state; /* asks bash to go back to its top level */
extern int wait_signal_received;              /* and lets the builtin `wait` end */
extern int signal_is_trapped(int number), signal_is_ignored(int number);
extern void run_interrupt_trap(int will_throw);
extern void initialize_terminating_signals(void); /* done once, at the latest by the first trap */
extern void termsig_sighandler(int number);       /* what that puts in place */

/* Jobs. */
struct bash_process {
    struct bash_process *next; /* in a circle */
    pid_t pid;
    int status, running;
};
struct bash_job {
    char *directory;
    struct bash_process *processes;
    pid_t group;
    int state, flags;
};
#define JOB_FOREGROUND 0x01
extern struct bash_job **jobs;
extern struct bash_job_counts {
    long limit;
    int processes[5];
    int slots; /* of `jobs` */
    int numbers[6];
    struct bash_job *last_made;
} js;
extern int already_making_children; /* between the first process of a pipeline and the last */
extern int stop_pipeline(int in_background, void *deferred);

/* Variables. */
struct bash_variable {
    char *name, *value, *exported;
    void *(*dynamic_value)(void *), *(*assign)(void *, char *, long, char *);
    int attributes, context;
};
#define VARIABLE_EXPORTED 0x0001
#define VARIABLE_READONLY 0x0002
#define VARIABLE_NOT_ASSIGNED 0x4000
extern struct bash_variable *find_global_variable_noref(const char *name);
extern struct bash_variable *bind_global_variable(const char *name, char *value, int flags);
extern int unbind_variable_noref(const char *name);
extern void stupidly_hack_special_variables(char *name);
extern int array_needs_making; /* the environment of commands is made anew */
extern int array_insert(void *array, intmax_t index, char *value);
extern void remember_args(struct bash_words *arguments, int destructive);

#endif
