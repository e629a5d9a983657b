/*
 * r_api.h - what the runner's libraries use of R's C interface.
 *
 * It is declared here because R's headers are in the package for building R packages, which nothing
 * else of stepbox needs. All of it is documented in "Writing R Extensions" and unchanged since R 3.
 */
#ifndef STEPBOX_R_API_H
#define STEPBOX_R_API_H

#include <stddef.h>
#include <stdio.h>

typedef struct SEXPREC *SEXP;
typedef ptrdiff_t R_xlen_t;

enum { R_STRINGS = 16 };           /* the type of a character vector */
enum { R_UTF8 = 1 };               /* the encoding of a string */
enum { R_SAVE_NOTHING = 3 };       /* of the kinds of clean-up */
enum { R_TO_STDOUT, R_TO_STDERR }; /* where console output is for */

extern SEXP R_NilValue, R_NaString;
extern int R_interrupts_pending, R_Interactive;
extern int R_NoEcho __attribute__((weak)); /* not everywhere */
extern FILE *R_Outputfile, *R_Consolefile;

extern int (*ptr_R_ReadConsole)(const char *, unsigned char *, int, int);
extern void (*ptr_R_WriteConsole)(const char *, int);
extern void (*ptr_R_WriteConsoleEx)(const char *, int, int);
extern void (*ptr_R_CleanUp)(int, int, int);

SEXP Rf_allocVector(unsigned type, R_xlen_t length);
SEXP Rf_mkCharLenCE(const char *bytes, int length, int encoding);
SEXP Rf_ScalarInteger(int value);
SEXP Rf_ScalarString(SEXP string);
SEXP Rf_protect(SEXP value);
void Rf_unprotect(int count);
SEXP STRING_ELT(SEXP vector, R_xlen_t index);
void SET_STRING_ELT(SEXP vector, R_xlen_t index, SEXP string);
R_xlen_t Rf_xlength(SEXP vector);
int Rf_asInteger(SEXP value);
const char *Rf_translateCharUTF8(SEXP string);
void Rf_error(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));
void R_CheckUserInterrupt(void);
void Rf_jump_to_toplevel(void) __attribute__((noreturn));

#endif
