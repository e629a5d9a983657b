/* texts.c - R's strings, and files, in the form that lines have them. */
#include "calls.h"
#include "line.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define MAX_FILE ((long)40 * 1024 * 1024)

SEXP stepbox_json_strings(SEXP strings) {
    R_xlen_t count = Rf_xlength(strings);
    SEXP result = Rf_protect(Rf_allocVector(R_STRINGS, count));
    struct line line = {0};
    for (R_xlen_t i = 0; i < count && !line.failed; i++) {
        SEXP element = STRING_ELT(strings, i);
        const char *text = Rf_translateCharUTF8(element);
        line.length = 0;
        if (element == R_NaString)
            line_add_text(&line, "null");
        else
            line_add_string(&line, text, strlen(text));
        if (!line.failed && line.length < INT32_MAX)
            SET_STRING_ELT(result, i, Rf_mkCharLenCE(line.bytes, (int)line.length, R_UTF8));
    }
    bool failed = line.failed;
    line_free(&line);
    Rf_unprotect(1);
    if (failed)
        Rf_error("out of memory");
    return result;
}

static size_t write_base64(const unsigned char *bytes, size_t size, char *to) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char *begin = to;
    for (size_t i = 0; i < size; i += 3) {
        unsigned b = i + 1 < size ? bytes[i + 1] : 0, c = i + 2 < size ? bytes[i + 2] : 0;
        unsigned group = (unsigned)bytes[i] << 16 | b << 8 | c;
        *to++ = digits[group >> 18];
        *to++ = digits[group >> 12 & 63];
        *to++ = i + 1 < size ? digits[group >> 6 & 63] : '=';
        *to++ = i + 2 < size ? digits[group & 63] : '=';
    }
    return (size_t)(to - begin);
}

SEXP stepbox_base64_file(SEXP path) {
    FILE *file = fopen(Rf_translateCharUTF8(STRING_ELT(path, 0)), "rbe");
    SEXP result = R_NilValue;
    long size = file && fseek(file, 0, SEEK_END) == 0 ? ftell(file) : 0;
    if (size > 0 && size <= MAX_FILE) {
        unsigned char *bytes = malloc((size_t)size);
        char *text = malloc((size_t)size / 3 * 4 + 8);
        rewind(file);
        if (bytes && text && fread(bytes, 1, (size_t)size, file) == (size_t)size)
            result = Rf_ScalarString(
                Rf_mkCharLenCE(text, (int)write_base64(bytes, (size_t)size, text), R_UTF8));
        free(bytes);
        free(text);
    }
    if (file)
        fclose(file);
    return result;
}
