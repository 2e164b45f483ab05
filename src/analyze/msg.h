/* A sentence with typed values, kept apart from its language and number formatting.
 *
 * format is an English msgid (mark it N_()) with place holders {0} … {7}. A translation may reorder them.
 * JSON renders the English; text renders the translation. Values know their unit, so the same sentence reads
 * "4.21 ms" for a person and carries 4210000 for a machine. */
#ifndef WARPLIGHT_ANALYZE_MSG_H
#define WARPLIGHT_ANALYZE_MSG_H

#include <stdint.h>

#include "base/str.h"

enum value_type {
    VALUE_NONE,
    VALUE_COUNT,       /* i: a plain integer */
    VALUE_ID,          /* i: an identifier or something to type in: no digit grouping */
    VALUE_NS,          /* i: nanoseconds */
    VALUE_BYTES,       /* i */
    VALUE_RATIO,       /* d: 0–1, printed as a percentage */
    VALUE_NUMBER,      /* d: three significant digits */
    VALUE_BYTES_PER_S, /* d */
    VALUE_TIME,        /* i: a moment on the run's clock, printed relative to the window's start */
    VALUE_TEXT,        /* s: verbatim; must outlive the message (a run's string or a literal) */
    VALUE_TERM,        /* s: a msgid, translated when printed */
    VALUE_XID,         /* i: its code, printed with what it means: "Xid 79 (…)" */
    VALUE_KERNEL,      /* s: a kernel's full name, shortened for people */
};

struct value {
    enum value_type type;
    union {
        int64_t i;
        double d;
        const char *s;
    };
};

enum { MSG_VALUES = 8 };

struct msg {
    const char *format; /* NULL: empty */
    const char *one;    /* instead, where values[number] is 1; NULL: the same for all numbers */
    int number;
    struct value values[MSG_VALUES];
};

static inline struct value value_count(int64_t i)
{
    return (struct value){VALUE_COUNT, {.i = i}};
}
static inline struct value value_id(int64_t i)
{
    return (struct value){VALUE_ID, {.i = i}};
}
static inline struct value value_ns(int64_t i)
{
    return (struct value){VALUE_NS, {.i = i}};
}
static inline struct value value_bytes(int64_t i)
{
    return (struct value){VALUE_BYTES, {.i = i}};
}
static inline struct value value_time(int64_t i)
{
    return (struct value){VALUE_TIME, {.i = i}};
}
static inline struct value value_ratio(double d)
{
    return (struct value){VALUE_RATIO, {.d = d}};
}
static inline struct value value_number(double d)
{
    return (struct value){VALUE_NUMBER, {.d = d}};
}
static inline struct value value_rate(double d)
{
    return (struct value){VALUE_BYTES_PER_S, {.d = d}};
}
static inline struct value value_text(const char *s)
{
    return (struct value){VALUE_TEXT, {.s = s}};
}
static inline struct value value_term(const char *s)
{
    return (struct value){VALUE_TERM, {.s = s}};
}
static inline struct value value_xid(int64_t code)
{
    return (struct value){VALUE_XID, {.i = code}};
}
static inline struct value value_kernel(const char *s)
{
    return (struct value){VALUE_KERNEL, {.s = s}};
}

/* msg_make("{0} of {1}", value_ns(x), value_ns(y)) */
#define msg_make(format_, ...) ((struct msg){.format = (format_), .values = {__VA_ARGS__}})
/* msg_make_n(0, NP_("{0} copy", "{0} copies"), value_count(n)): value 0 decides. */
#define msg_make_n(number_, forms, ...) msg_make_n_(number_, forms, __VA_ARGS__)
#define msg_make_n_(number_, one_, many_, ...)                                                               \
    ((struct msg){.format = (many_), .one = (one_), .number = (number_), .values = {__VA_ARGS__}})

/* Appends the sentence to out. translate: through i18n, with translated terms; else English. origin_ns is the
 * moment that VALUE_TIME counts from. */
void msg_render(struct str *out, const struct msg *msg, int translate, int64_t origin_ns);
/* Appends one value as people read it: three to four significant digits, unit attached ("4.21 ms", "1.5
 * GiB"). */
void value_render(struct str *out, const struct value *value, int translate, int64_t origin_ns);

#endif
