/* shell_process.c - see shell_process.h */
#include "shell_process.h"

#include "shell_syntax.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* What the shell runs first. */
#define FIRST_COMMAND "builtin enable -f \"$1\" stepbox_shell && stepbox_shell \"$2\" \"$3\""
/* Of bash: the environment that this process was started with. */
extern char **shell_environment;

/* Memory that is kept from step to step. */
#define KEPT ((size_t)1024 * 1024)

static _Noreturn void become_shell(const char *bash, const char *library, int memory, pid_t parent,
                                   const sigset_t *mask) {
    char number[12], process[12];
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(1);
    sigprocmask(SIG_SETMASK, mask, NULL);
    signal(SIGQUIT, SIG_DFL); /* this bash ignores it, and what is ignored stays so after exec */
    /* On a number of its own: the library closes it as soon as it has mapped the memory. */
    int fd = fcntl(memory, F_DUPFD, 10);
    snprintf(number, sizeof number, "%d", fd);
    snprintf(process, sizeof process, "%d", (int)parent);
    const char *const words[] = {"bash",           "--norc", "--noprofile", "-O",
                                 "expand_aliases", "-c",     FIRST_COMMAND, SHELL_NAME,
                                 library,          number,   process,       NULL};
    execve(bash, (char *const *)words, shell_environment);
    perror("the bash runner cannot start bash");
    _exit(1);
}

int shell_process_start(struct shell_process *shell, const char *bash, const char *library,
                        const sigset_t *mask) {
    int memory = memfd_create("stepbox-step", MFD_CLOEXEC);
    if (memory < 0 || ftruncate(memory, sizeof *shell->step))
        return -1;
    shell->step = mmap(NULL, sizeof *shell->step, PROT_READ | PROT_WRITE,
                       MAP_SHARED | MAP_NORESERVE, memory, 0);
    if (shell->step == MAP_FAILED)
        return -1;
    shell->step->turn = TURN_SHELL;
    pid_t parent = getpid();
    shell->pid = fork();
    if (shell->pid == 0)
        become_shell(bash, library, memory, parent, mask);
    close(memory);
    return shell->pid < 0 ? -1 : 0;
}

static char *put(char *at, const char *bytes, size_t length) {
    memcpy(at, bytes, length);
    at[length] = '\0';
    return at + length + 1;
}

void shell_process_run(struct shell_process *shell, const json_t *code, json_t *env) {
    struct shared_step *step = shell->step;
    char *at = step->data;
    const char *name;
    json_t *value;
    /* All of it has been in one line of the agent's, so it fits. */
    json_object_foreach(env, name, value) {
        at = put(at, name, strlen(name));
        at = put(at, json_string_value(value), json_string_length(value));
    }
    step->variables = (uint32_t)json_object_size(env);
    step->code_length = json_string_length(code);
    put(at, json_string_value(code), step->code_length);
    step->interrupts = 0;
    step->outcome = OUTCOME_STATUS;
    __atomic_store_n(&step->turn, TURN_SHELL, __ATOMIC_SEQ_CST);
    syscall(SYS_futex, &step->turn, FUTEX_WAKE, 1, NULL, NULL, 0);
}

bool shell_process_has_answered(const struct shell_process *shell) {
    return __atomic_load_n(&shell->step->turn, __ATOMIC_SEQ_CST) == TURN_SUPERVISOR;
}

void shell_process_forget(struct shell_process *shell) {
    if (shell->step->code_length > KEPT)
        madvise((char *)shell->step + KEPT, sizeof *shell->step - KEPT, MADV_REMOVE);
}

void shell_process_interrupt(struct shell_process *shell) {
    __atomic_add_fetch(&shell->step->interrupts, 1, __ATOMIC_SEQ_CST);
    if (!process_catches(shell->pid, SHARED_LOOK))
        kill(shell->pid, SIGINT); /* `exec PROGRAM` has put another program in the shell's place */
}

void shell_process_look(const struct shell_process *shell) {
    if (process_catches(shell->pid, SHARED_LOOK))
        kill(shell->pid, SHARED_LOOK);
    else
        kill(getpid(), SHARED_DONE); /* no shell that could answer, and no background of it */
}

void shell_process_add_background(const struct shell_process *shell,
                                  struct descendants *background) {
    const struct shared_step *step = shell->step;
    for (uint32_t i = 0; i < step->background && i < SHARED_BACKGROUND_MAX; i++)
        descendants_add(background, step->background_pids[i]);
}

bool shell_process_background(struct shell_process *shell, struct descendants *background) {
    struct shared_step *step = shell->step;
    if (process_catches(shell->pid, SHARED_LOOK) &&
        !__atomic_exchange_n(&step->has_looked, 0, __ATOMIC_SEQ_CST))
        return false;
    shell_process_add_background(shell, background);
    return true;
}

bool shell_process_has_ended(struct shell_process *shell, int *status) {
    return waitpid(shell->pid, status, WNOHANG) == shell->pid;
}

_Noreturn void shell_process_die_alike(int status) {
    sigset_t none;
    signal(WTERMSIG(status), SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    raise(WTERMSIG(status));
    _exit(1);
}
