/* process_fault.c - see process_fault.h */
#include "process_fault.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define QUOTE_MAX 300

bool process_fault_set(process_fault *fault, const char *code, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fault->code = code;
    vsnprintf(fault->message, sizeof fault->message, format, arguments);
    va_end(arguments);
    return false;
}

int process_fault_quote(const char *text) {
    size_t length = strnlen(text, QUOTE_MAX + 1);
    if (length <= QUOTE_MAX)
        return (int)length;
    length = QUOTE_MAX;
    while (length > 0 && ((unsigned char)text[length] & 0xc0) == 0x80)
        length--;
    return (int)length;
}
