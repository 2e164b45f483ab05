#include "base/str.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static void str_reserve(struct str *s, size_t extra)
{
    size_t need = s->len + extra + 1;
    if (need <= s->cap)
        return;
    size_t cap = s->cap ? s->cap * 2 : 64;
    s->cap = cap < need ? need : cap;
    s->ptr = mem_resize(s->ptr, s->cap, 1);
}

void str_add(struct str *s, const char *text, size_t length)
{
    str_reserve(s, length);
    if (length)
        memcpy(s->ptr + s->len, text, length);
    s->len += length;
    s->ptr[s->len] = '\0';
}

void str_puts(struct str *s, const char *text)
{
    str_add(s, text, strlen(text));
}

void str_putc(struct str *s, char c)
{
    str_add(s, &c, 1);
}

void str_pad(struct str *s, char c, size_t count)
{
    str_reserve(s, count);
    memset(s->ptr + s->len, c, count);
    s->len += count;
    s->ptr[s->len] = '\0';
}

void str_vaddf(struct str *s, const char *format, va_list args)
{
    va_list again;
    va_copy(again, args);
    int length = vsnprintf(NULL, 0, format, again);
    va_end(again);
    if (length < 0)
        return;
    str_reserve(s, (size_t)length);
    vsnprintf(s->ptr + s->len, (size_t)length + 1, format, args);
    s->len += (size_t)length;
}

void str_addf(struct str *s, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    str_vaddf(s, format, args);
    va_end(args);
}

void str_cut(struct str *s, size_t length)
{
    if (length < s->len) {
        s->len = length;
        s->ptr[length] = '\0';
    }
}

void str_release(struct str *s)
{
    free(s->ptr);
    *s = (struct str){0};
}
