#include "base/err.h"

#include <stdarg.h>
#include <stdio.h>

int err_set(struct err *err, enum err_code code, const char *where, int64_t offset, const char *hint,
            const char *format, ...)
{
    if (!err)
        return code;
    err->code = code;
    err->offset = offset;
    snprintf(err->where, sizeof err->where, "%s", where ? where : "");
    snprintf(err->hint, sizeof err->hint, "%s", hint ? hint : "");
    va_list args;
    va_start(args, format);
    vsnprintf(err->what, sizeof err->what, format, args);
    va_end(args);
    return code;
}
