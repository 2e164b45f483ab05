/* Checked allocation. These never return NULL: when memory is exhausted the process ends with exit
 * code 5 and one line on standard error. The injected library does not link this file. */
#ifndef WARPLIGHT_BASE_MEM_H
#define WARPLIGHT_BASE_MEM_H

#include <stddef.h>

void *mem_alloc(size_t size);
void *mem_zalloc(size_t count, size_t size);
/* Resizes to count * size bytes; the product is checked for overflow. */
void *mem_resize(void *ptr, size_t count, size_t size);
char *mem_strdup(const char *text);
/* What to do before the process ends for lack of memory, with nothing but what signal-safety(7) allows; NULL:
 * nothing. */
void mem_before_end(void (*run)(void));

#endif
