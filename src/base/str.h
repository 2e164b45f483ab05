/* Growable text. Invariant: after any call that adds, ptr[len] == '\0'. A zeroed struct is a valid empty
 * string whose ptr is NULL; str_text() is always printable. */
#ifndef WARPLIGHT_BASE_STR_H
#define WARPLIGHT_BASE_STR_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct str {
    char *ptr;
    size_t len;
    size_t cap;
};

void str_add(struct str *s, const char *text, size_t length);
void str_puts(struct str *s, const char *text);
void str_putc(struct str *s, char c);
/* Adds count copies of c. */
void str_pad(struct str *s, char c, size_t count);
void str_addf(struct str *s, const char *format, ...) __attribute__((format(printf, 2, 3), nonnull));
void str_vaddf(struct str *s, const char *format, va_list args)
    __attribute__((format(printf, 2, 0), nonnull(1, 2)));
/* Shortens to length bytes, keeping the memory. */
void str_cut(struct str *s, size_t length);
void str_release(struct str *s);

static inline const char *str_text(const struct str *s)
{
    return s->ptr ? s->ptr : "";
}

static inline bool text_ends_with(const char *text, size_t length, const char *end)
{
    size_t end_length = strlen(end);
    return length >= end_length && memcmp(text + length - end_length, end, end_length) == 0;
}

#endif
