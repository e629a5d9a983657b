/*
 * console.c - stands in for R's console: what R reads there, writes there, and asks of it.
 *
 * R's own top level runs the steps. Each time it wants a line it gets the call of the function that
 * evaluates the next expression (see steps.R), so warnings, jumps to top level and quit() are R's.
 */
#include "calls.h"
#include "channel.h"
#include "interrupts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Bytes of a value's printed form that are kept. */
#define MAX_CAPTURED ((size_t)16 * 1024 * 1024)

#define STDOUT 1
#define STDERR 2

static struct {
    const char *call;   /* the line that R gets */
    bool in_step;       /* a step was begun, and is not done */
    bool entered;       /* R is in the call */
    bool answered;      /* the call was made since R got the line */
    bool halting;       /* R has just said so */
    bool leaving;       /* R ends, since the code wants it */
    bool capturing;     /* what is printed is kept */
    bool capture_fails; /* too much, or no memory */
    char *captured;
    size_t length, room;
    void (*clean_up)(int, int, int);
} console;

static void capture(const char *bytes, size_t length) {
    if (console.length + length > MAX_CAPTURED) {
        console.capture_fails = true;
        length = MAX_CAPTURED - console.length;
    }
    if (console.length + length > console.room) {
        size_t room = (console.length + length) * 2;
        char *more = realloc(console.captured, room);
        if (!more) {
            console.capture_fails = true;
            return;
        }
        console.captured = more;
        console.room = room;
    }
    memcpy(console.captured + console.length, bytes, length);
    console.length += length;
}

static void write_console(const char *bytes, int length, int kind) {
    static const char halt[] = "Execution halted\n";
    console.halting = kind == R_TO_STDERR && strcmp(bytes, halt) == 0 && console.in_step;
    if (console.halting)
        return;
    if (console.capturing && kind == R_TO_STDOUT && channel_is_ours())
        capture(bytes, (size_t)length);
    else
        channel_write(kind == R_TO_STDOUT ? STDOUT : STDERR, bytes, (size_t)length);
}

static int read_console(const char *prompt, unsigned char *line, int size, int history) {
    (void)history;
    R_Interactive = 0;
    if (console.entered && strncmp(prompt, "Browse[", 7) == 0)
        return snprintf((char *)line, (size_t)size, "c\n"); /* browser() lets the code go on */
    if (console.entered)
        return 0; /* the code reads the console, which is at its end */
    if (!channel_is_ours())
        _exit(1); /* a process that the code forked came out of it */
    if (console.in_step && !console.answered) {
        static const char fault[] = "the R runner's own function was changed\n";
        channel_write(STDERR, fault, sizeof fault - 1);
        _exit(1);
    }
    if (!console.in_step) {
        step_end(false);
        interrupts_rest();
        if (!step_wait()) {
            console.clean_up(R_SAVE_NOTHING, 0, 0);
            _exit(0);
        }
        console.in_step = true;
    }
    console.answered = false;
    snprintf((char *)line, (size_t)size, "%s\n", console.call);
    return 1;
}

/* R's own ends the process. Versions before 4.2 come here for an error that no handler got. */
static void clean_up(int save, int status, int run_last) {
    if (console.halting && save == R_SAVE_NOTHING && status == 1 && channel_is_ours()) {
        console.halting = false;
        R_Interactive = 1;
        Rf_jump_to_toplevel();
    }
    console.leaving = channel_is_ours() && console.in_step;
    interrupts_rest();
    console.clean_up(save, status, run_last);
}

static void at_exit(void) {
    if (console.leaving)
        step_end(true);
}

SEXP stepbox_console_open(SEXP descriptor, SEXP call) {
    if (channel_open(Rf_asInteger(descriptor)))
        Rf_error("the channel cannot be opened: %s", strerror(errno));
    int error = interrupts_open();
    if (error)
        Rf_error("interrupts cannot be watched for: %s", strerror(error));
    console.call = strdup(Rf_translateCharUTF8(STRING_ELT(call, 0)));
    console.clean_up = ptr_R_CleanUp;
    ptr_R_CleanUp = clean_up;
    ptr_R_ReadConsole = read_console;
    ptr_R_WriteConsole = NULL;
    ptr_R_WriteConsoleEx = write_console;
    R_Outputfile = R_Consolefile = NULL;
    if (&R_NoEcho)
        R_NoEcho = 0; /* or else read_console() would not get the prompts */
    atexit(at_exit);
    channel_send("{\"type\":\"ready\"}", 16);
    return R_NilValue;
}

SEXP stepbox_console_enter(void) {
    console.entered = console.answered = true;
    return R_NilValue;
}

/* Also when a jump to top level leaves the call. One that is not interactive ends there, after an
 * error that no handler got; the console says that it is until the next line. */
SEXP stepbox_console_leave(void) {
    R_Interactive = channel_is_ours();
    console.entered = console.capturing = false;
    interrupts_leave_code();
    return R_NilValue;
}

SEXP stepbox_console_done(void) {
    console.in_step = false;
    return R_NilValue;
}

SEXP stepbox_console_arm(void) {
    interrupts_take(); /* R, or the code, may have put another handler into place */
    interrupts_enter_code();
    return R_NilValue;
}

SEXP stepbox_console_check(void) {
    R_CheckUserInterrupt();
    return R_NilValue;
}

SEXP stepbox_console_disarm(void) {
    if (channel_is_ours()) {
        interrupts_leave_code();
        R_interrupts_pending = 0;
    }
    return R_NilValue;
}

SEXP stepbox_console_code(void) {
    size_t length;
    const char *why, *code = step_code(&length, &why);
    return code ? Rf_ScalarString(Rf_mkCharLenCE(code, (int)length, R_UTF8)) : R_NilValue;
}

SEXP stepbox_console_fault(void) {
    size_t length;
    const char *why = NULL;
    step_code(&length, &why);
    return Rf_ScalarString(Rf_mkCharLenCE(why ? why : "", why ? (int)strlen(why) : 0, R_UTF8));
}

SEXP stepbox_console_send(SEXP line) {
    const char *bytes = Rf_translateCharUTF8(STRING_ELT(line, 0));
    if (console.in_step)
        channel_send(bytes, strlen(bytes));
    return R_NilValue;
}

SEXP stepbox_console_capture(void) {
    console.capturing = true;
    console.capture_fails = false;
    console.length = 0;
    return R_NilValue;
}

SEXP stepbox_console_captured(void) {
    static const char cut[] = "\n(the rest is left out)";
    console.capturing = false;
    size_t length = console.length;
    while (console.capture_fails && length > 0 && (console.captured[length - 1] & 0xC0) == 0x80)
        length--;
    if (console.capture_fails && length > 0)
        length--;
    char *text = malloc(length + sizeof cut);
    if (!text)
        Rf_error("out of memory");
    if (length > 0)
        memcpy(text, console.captured, length);
    if (console.capture_fails)
        memcpy(text + length, cut, sizeof cut - 1);
    length += console.capture_fails ? sizeof cut - 1 : 0;
    while (length > 0 && text[length - 1] == '\n')
        length--;
    free(console.captured);
    console.captured = NULL;
    console.length = console.room = 0;
    SEXP string = Rf_mkCharLenCE(text, (int)length, R_UTF8);
    free(text);
    return Rf_ScalarString(string);
}
