#include "source/setup_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/utf8.h"

static bool make_path(const struct setup *s, char out[SETUP_PATH_BYTES], const char *format, va_list args)
{
    size_t root = strlen(s->root);
    if (root >= SETUP_PATH_BYTES)
        return false;
    memcpy(out, s->root, root);
    int length = vsnprintf(out + root, SETUP_PATH_BYTES - root, format, args);
    return length >= 0 && (size_t)length < SETUP_PATH_BYTES - root;
}

/* Declares path and builds it of the caller's arguments; fits says whether that went well. */
#define MAKE_PATH(s, format)                                                                                 \
    char path[SETUP_PATH_BYTES];                                                                             \
    va_list args;                                                                                            \
    va_start(args, format);                                                                                  \
    bool fits = make_path(s, path, format, args);                                                            \
    va_end(args)

bool setup_path(const struct setup *s, char out[SETUP_PATH_BYTES], const char *format, ...)
{
    va_list args;
    va_start(args, format);
    bool fits = make_path(s, out, format, args);
    va_end(args);
    return fits;
}

/* O_NONBLOCK: a pipe in the place of a file does not stop us. */
static int read_file(struct str *text, const char *path)
{
    char bytes[16 << 10];
    ssize_t got = 0;
    str_cut(text, 0);
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return errno;
    while (text->len < SETUP_TEXT_BYTES && (got = read(fd, bytes, sizeof bytes)) > 0)
        str_add(text, bytes, (size_t)got);
    int error = got < 0 ? errno : 0;
    close(fd);
    return error;
}

int setup_read_file(const struct setup *s, struct str *text, const char *format, ...)
{
    MAKE_PATH(s, format);
    str_cut(text, 0);
    return fits ? read_file(text, path) : ENAMETOOLONG;
}

const char *setup_visible(struct setup *s, const char *text, size_t length)
{
    struct str visible = {0};
    utf8_visible(&visible, text, length < SETUP_LINE_BYTES ? length : SETUP_LINE_BYTES);
    const char *copy = arena_text(&s->arena, str_text(&visible), visible.len);
    str_release(&visible);
    return copy;
}

static const char *trimmed(struct setup *s, const char *text, size_t length)
{
    while (length > 0 && strchr(" \t\n\r'\";", *text)) {
        text++;
        length--;
    }
    while (length > 0 && strchr(" \t\n\r'\";", text[length - 1]))
        length--;
    return setup_visible(s, text, length);
}

static const char *read_line(struct setup *s, const char *path)
{
    struct str text = {0};
    const char *line = "";
    if (read_file(&text, path) == 0 && text.len > 0)
        line = trimmed(s, text.ptr, strcspn(text.ptr, "\n"));
    str_release(&text);
    return line;
}

const char *setup_read_line(struct setup *s, const char *format, ...)
{
    MAKE_PATH(s, format);
    return fits ? read_line(s, path) : "";
}

int64_t setup_read_number(struct setup *s, int64_t otherwise, const char *format, ...)
{
    MAKE_PATH(s, format);
    const char *line = fits ? read_line(s, path) : "";
    char *end;
    errno = 0;
    long long number = strtoll(line, &end, 0);
    return end == line || errno ? otherwise : number;
}

bool setup_exists(const struct setup *s, const char *format, ...)
{
    MAKE_PATH(s, format);
    struct stat st;
    return fits && lstat(path, &st) == 0;
}

DIR *setup_folder(const struct setup *s, const char *format, ...)
{
    MAKE_PATH(s, format);
    return fits ? opendir(path) : NULL;
}

const char *setup_link_name(struct setup *s, const char *format, ...)
{
    MAKE_PATH(s, format);
    char target[SETUP_PATH_BYTES];
    ssize_t length = fits ? readlink(path, target, sizeof target - 1) : -1;
    if (length <= 0)
        return "";
    target[length] = '\0';
    const char *slash = strrchr(target, '/');
    const char *name = slash ? slash + 1 : target;
    return setup_visible(s, name, strlen(name));
}

const char *setup_value(struct setup *s, const struct str *text, const char *key)
{
    size_t length = strlen(key);
    const char *line = str_text(text);
    while (*line) {
        size_t size = strcspn(line, "\n");
        if (size > length && strncmp(line, key, length) == 0 && strchr(":= \t", line[length])) {
            const char *value = line + length;
            const char *mark = memchr(line, '=', size); /* "cuda: Optional[str] = '13.0'" */
            if (mark && *value == ':')
                value = mark;
            value += strspn(value, ":= \t");
            return trimmed(s, value, (size_t)(line + size - value));
        }
        line += size + (line[size] == '\n');
    }
    return "";
}
