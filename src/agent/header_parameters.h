/*
 * header_parameters.h - parameters in values of headers: form-data; name="file"; filename=a
 */
#ifndef STEPBOX_HEADER_PARAMETERS_H
#define STEPBOX_HEADER_PARAMETERS_H

#include <stddef.h>

typedef enum header_parameter_result {
    HEADER_PARAMETER_FOUND,
    HEADER_PARAMETER_ABSENT,
    HEADER_PARAMETER_BAD /* malformed, or longer than the room */
} header_parameter_result;

/* The parameter's value without its quotes, NUL-terminated behind *length bytes. A value in the
 * extended form, name*=UTF-8''percent-encoded, comes before a plain one. */
header_parameter_result header_parameter(const char *header, size_t header_length, const char *name,
                                         char *to, size_t size, size_t *length);

#endif
