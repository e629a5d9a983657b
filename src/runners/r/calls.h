/* calls.h - what the runner's R code calls by .Call(). */
#ifndef STEPBOX_R_CALLS_H
#define STEPBOX_R_CALLS_H

#include "r_api.h"

#define R_CALL __attribute__((visibility("default")))

/* The strings of a character vector as JSON; NA becomes null. */
R_CALL SEXP stepbox_json_strings(SEXP strings);
/* A file in base64, NULL when there is none, or it is empty or too big. */
R_CALL SEXP stepbox_base64_file(SEXP path);

/* Takes R's console over. The channel's descriptor; the line that R gets for an expression. */
R_CALL SEXP stepbox_console_open(SEXP descriptor, SEXP call);
/* That call has begun; has ended, in whatever way. */
R_CALL SEXP stepbox_console_enter(void);
R_CALL SEXP stepbox_console_leave(void);
/* The step has nothing more to run. */
R_CALL SEXP stepbox_console_done(void);
/* The code of the step runs, and may be interrupted; no more. */
R_CALL SEXP stepbox_console_arm(void);
R_CALL SEXP stepbox_console_disarm(void);
/* The code has ended: lets an interrupt happen that R has not looked for. */
R_CALL SEXP stepbox_console_check(void);
/* The code of the step, NULL when it cannot be run; then why. */
R_CALL SEXP stepbox_console_code(void);
R_CALL SEXP stepbox_console_fault(void);
/* Sends a line to the agent. */
R_CALL SEXP stepbox_console_send(SEXP line);
/* What is printed from here on is kept, until it is asked for. */
R_CALL SEXP stepbox_console_capture(void);
R_CALL SEXP stepbox_console_captured(void);

/* Programs that the code starts write next. */
R_CALL SEXP stepbox_commands_hand_over(void);
/* Runs a command of the shell; its exit status, as system() has it. */
R_CALL SEXP stepbox_commands_run(SEXP command);

#endif
