#include "source/small_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static long read_all(char *text, size_t size, const char *path)
{
    size_t length = 0;
    text[0] = '\0';
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0)
        return -1;
    while (length < size - 1) {
        ssize_t got = read(fd, text + length, size - 1 - length);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0) {
            if (got < 0 && length == 0) {
                int why = errno;
                close(fd);
                errno = why;
                return -1;
            }
            break;
        }
        length += (size_t)got;
    }
    close(fd);
    text[length] = '\0';
    return (long)length;
}

static long vread(char *text, size_t size, const char *format, va_list arguments)
{
    char path[PATH_MAX];
    int length = vsnprintf(path, sizeof path, format, arguments);
    text[0] = '\0';
    if (length < 0 || (size_t)length >= sizeof path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    return read_all(text, size, path);
}

long small_file_read(char *text, size_t size, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    long length = vread(text, size, format, arguments);
    va_end(arguments);
    return length;
}

enum reading_state small_file_why(int error)
{
    switch (error) {
    case ENOENT:
    case ENOTDIR:
    case EOPNOTSUPP:
    case ENODATA:
    case ENXIO:
        return READING_UNSUPPORTED;
    case EACCES:
    case EPERM:
        return READING_NO_PERMISSION;
    case ENODEV:
        return READING_LOST;
    default:
        return READING_FAILED;
    }
}

bool small_number(const char *text, int64_t *value)
{
    char *end;
    errno = 0;
    long long number = strtoll(text, &end, 10);
    if (end == text || errno)
        return false;
    *value = number;
    return true;
}

struct reading small_file_number(const char *format, ...)
{
    char text[64];
    int64_t value;
    va_list arguments;
    va_start(arguments, format);
    long length = vread(text, sizeof text, format, arguments);
    va_end(arguments);
    if (length < 0)
        return reading_missing(small_file_why(errno));
    return small_number(text, &value) ? reading_of(value) : reading_missing(READING_FAILED);
}

bool small_line(char *out, size_t size, const char *text, const char *key)
{
    size_t length = strlen(key);
    for (const char *line = text; line && *line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
        if (strncmp(line, key, length) != 0)
            continue;
        snprintf(out, size, "%.*s", (int)strcspn(line + length, "\n"), line + length);
        return true;
    }
    out[0] = '\0';
    return false;
}
