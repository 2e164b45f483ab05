/* Byte scanners of the JSON reader, 16 bytes a step. Each may load up to 16 bytes behind the byte it stops
 * at, and stops at a zero byte: the window ends in zeros. Only json*.c includes this. */
#ifndef WARPLIGHT_BASE_JSON_SCAN_H
#define WARPLIGHT_BASE_JSON_SCAN_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { JSON_SCAN_PADDING = 64 };

#if defined(__SSE2__)

#include <emmintrin.h>

typedef __m128i json_block;

static inline json_block json_load(const char *p)
{
    return _mm_loadu_si128((const __m128i *)(const void *)p);
}
static inline unsigned json_mask(json_block hits)
{
    return (unsigned)_mm_movemask_epi8(hits);
}
static inline json_block json_eq(json_block v, char c)
{
    return _mm_cmpeq_epi8(v, _mm_set1_epi8(c));
}
static inline json_block json_or(json_block a, json_block b)
{
    return _mm_or_si128(a, b);
}
static inline json_block json_at_most(json_block v, char c)
{
    return _mm_cmpeq_epi8(_mm_min_epu8(v, _mm_set1_epi8(c)), v);
}
static inline json_block json_set_bits(json_block v, char bits)
{
    return _mm_or_si128(v, _mm_set1_epi8(bits));
}
/* Bit i: byte i is not ASCII. */
static inline unsigned json_high(json_block v)
{
    return (unsigned)_mm_movemask_epi8(v);
}

#else /* the same with GCC's vectors, for other processors */

typedef uint8_t json_block __attribute__((vector_size(16)));

static inline json_block json_load(const char *p)
{
    json_block v;
    memcpy(&v, p, sizeof v);
    return v;
}
static inline unsigned json_mask(json_block hits)
{
    unsigned mask = 0;
    for (unsigned i = 0; i < 16; i++)
        mask |= (unsigned)(hits[i] >> 7) << i;
    return mask;
}
static inline json_block json_eq(json_block v, char c)
{
    return (json_block)(v == (uint8_t)c);
}
static inline json_block json_or(json_block a, json_block b)
{
    return a | b;
}
static inline json_block json_at_most(json_block v, char c)
{
    return (json_block)(v <= (uint8_t)c);
}
static inline json_block json_set_bits(json_block v, char bits)
{
    return v | (uint8_t)bits;
}
static inline unsigned json_high(json_block v)
{
    return json_mask(v);
}

#endif

/* First byte that ends or complicates a string: quote, backslash, control character. Adds to *high whether a
 * byte before it is not ASCII. */
static inline const char *json_scan_string(const char *p, unsigned *high)
{
    for (;; p += 16) {
        json_block v = json_load(p);
        unsigned stops =
            json_mask(json_or(json_or(json_eq(v, '"'), json_eq(v, '\\')), json_at_most(v, 0x1f)));
        if (stops) {
            *high |= json_high(v) & ((stops & -stops) - 1);
            return p + __builtin_ctz(stops);
        }
        *high |= json_high(v);
    }
}

/* First byte that is no blank. Controls count as blanks. */
static inline const char *json_scan_blank(const char *p)
{
    if ((unsigned char)*p > ' ')
        return p;
    if (*p == ' ' && (unsigned char)p[1] > ' ')
        return p + 1;
    for (;; p += 16) {
        json_block v = json_load(p);
        unsigned stops = ~json_mask(json_at_most(v, ' ')) | json_mask(json_eq(v, 0));
        if (stops & 0xffff)
            return p + __builtin_ctz(stops);
    }
}

/* First byte that cannot belong to a number or literal. */
static inline const char *json_scan_word(const char *p)
{
    for (;; p += 16) {
        json_block v = json_load(p);
        json_block braces = json_set_bits(v, 0x20);
        json_block ends = json_or(json_or(json_eq(v, ','), json_at_most(v, ' ')),
                                  json_or(json_or(json_eq(braces, '}'), json_eq(braces, '{')),
                                          json_or(json_eq(v, '"'), json_eq(v, ':'))));
        unsigned stops = json_mask(ends);
        if (stops)
            return p + __builtin_ctz(stops);
    }
}

/* Bit i: byte i of the 16 at p is a quote, bracket, brace or zero. */
static inline unsigned json_structure_mask(const char *p)
{
    json_block v = json_load(p);
    json_block braces = json_set_bits(v, 0x20);
    return json_mask(json_or(json_or(json_eq(braces, '}'), json_eq(braces, '{')),
                             json_or(json_eq(v, '"'), json_eq(v, 0))));
}

#endif
