#include "base/err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/i18n.h"

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

int err_open(struct err *err, const char *path, int why)
{
    switch (why) {
    case ENOENT:
        return err_set(err, ERR_INPUT, path, -1,
                       _("check the name; the path is relative to where you are now"), _("no such file"));
    case ENOTDIR:
        return err_set(err, ERR_INPUT, path, -1, _("check the path"),
                       _("a part of the path is not a directory"));
    case ENAMETOOLONG:
        return err_set(err, ERR_INPUT, path, -1, _("check the path"), _("the name is too long"));
    case EACCES:
    case EPERM:
        return err_set(err, ERR_ENV, path, -1,
                       _("run as the user who owns the file, or let others read it: chmod o+r"),
                       _("no permission to read the file"));
    case EMFILE:
    case ENFILE:
        return err_set(err, ERR_ENV, path, -1, _("give fewer files at once, or raise the limit: ulimit -n"),
                       _("too many open files"));
    default:
        return err_set(err, ERR_INPUT, path, -1, NULL, _("cannot open: %s"), strerror(why));
    }
}
