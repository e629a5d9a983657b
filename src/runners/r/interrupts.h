/* interrupts.h - SIGINT: ends the code of a step and the programs that it waits for, and nothing
 * else. */
#ifndef STEPBOX_R_INTERRUPTS_H
#define STEPBOX_R_INTERRUPTS_H

/* Once, before all others. 0, or an error of errno's. */
int interrupts_open(void);
/* Puts the handler into place, whatever R or the code has put there. */
void interrupts_take(void);

/* There is no step: nothing is interrupted. */
void interrupts_rest(void);
/* A step begins, whose code does not run yet: an interrupt waits for it. */
void interrupts_begin_step(void);
/* Its code runs; no more. */
void interrupts_enter_code(void);
void interrupts_leave_code(void);

#endif
