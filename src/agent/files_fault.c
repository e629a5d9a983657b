/* files_fault.c - see files_fault.h */
#include "files_fault.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int files_fault_set(files_fault *fault, int status, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(fault->message, sizeof fault->message, format, arguments);
    va_end(arguments);
    fault->status = status;
    return -1;
}

int files_fault_errno(files_fault *fault, int error, const char *doing, const char *path) {
    switch (error) {
    case ENOENT:
        return files_fault_set(fault, 404, "path '%s' does not exist", path);
    case EISDIR:
        return files_fault_set(fault, 400, "path '%s' is a directory", path);
    case ENOTDIR:
        return files_fault_set(fault, 400, "path '%s' leads through what is not a directory", path);
    case ENAMETOOLONG:
        return files_fault_set(fault, 400, "path '%s' has a name that is too long", path);
    case ELOOP:
        return files_fault_set(fault, 400, "path '%s' has too many symbolic links", path);
    case EINVAL:
    case EILSEQ:
        return files_fault_set(fault, 400, "path '%s' is not valid there", path);
    case EACCES:
    case EPERM:
    case EROFS:
        return files_fault_set(fault, 403, "%s '%s': permission denied%s", doing, path,
                               error == EROFS ? ", the file system is read-only" : "");
    case ENOSPC:
    case EDQUOT:
        return files_fault_set(fault, 507, "%s '%s': not enough disk space available", doing, path);
    case EFBIG:
        return files_fault_set(fault, 413, "%s '%s': the file is too large", doing, path);
    case ETXTBSY:
        return files_fault_set(fault, 409, "%s '%s': a program is running from it", doing, path);
    default:
        return files_fault_set(fault, 500, "%s '%s': %s", doing, path, strerror(error));
    }
}
