/* Typed growable arrays. VEC(T) declares an anonymous struct {T *at; size_t count, cap;}; zeroed is empty. */
#ifndef WARPLIGHT_BASE_VEC_H
#define WARPLIGHT_BASE_VEC_H

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define VEC(type)                                                                                            \
    struct {                                                                                                 \
        type *at;                                                                                            \
        size_t count;                                                                                        \
        size_t cap;                                                                                          \
    }

#define vec_reserve(v, n)                                                                                    \
    do {                                                                                                     \
        if ((n) > (v)->cap) {                                                                                \
            size_t vec_cap_ = (v)->cap ? (v)->cap * 2 : 16;                                                  \
            (v)->cap = vec_cap_ < (n) ? (n) : vec_cap_;                                                      \
            (v)->at = mem_resize((v)->at, (v)->cap, sizeof *(v)->at);                                        \
        }                                                                                                    \
    } while (0)

/* Appends a zeroed element and yields its address. */
#define vec_new(v)                                                                                           \
    (vec_grow_((void **)&(v)->at, &(v)->count, &(v)->cap, sizeof *(v)->at), &(v)->at[(v)->count - 1])

#define vec_push(v, value) (*vec_new(v) = (value))

/* NULL + 0 is undefined in C: an empty vector is asked for its count first. */
#define vec_each(v, item)                                                                                    \
    for (__typeof__(*(v)->at) *item = (v)->at; (v)->count && item < (v)->at + (v)->count; item++)

#define vec_release(v)                                                                                       \
    do {                                                                                                     \
        free((v)->at);                                                                                       \
        (v)->at = NULL;                                                                                      \
        (v)->count = (v)->cap = 0;                                                                           \
    } while (0)

static inline void vec_grow_(void **at, size_t *count, size_t *cap, size_t size)
{
    if (*count == *cap) {
        *cap = *cap ? *cap * 2 : 16;
        *at = mem_resize(*at, *cap, size);
    }
    memset((char *)*at + *count * size, 0, size);
    ++*count;
}

#endif
