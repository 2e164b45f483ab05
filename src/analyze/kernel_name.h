/* Brackets of a kernel's name, demangled as the tools do it: "void ns::f<int, g(T)::{lambda()#1}>(T*)
 * [clone]". What is not well formed is ordinary text, never an error. */
#ifndef WARPLIGHT_ANALYZE_KERNEL_NAME_H
#define WARPLIGHT_ANALYZE_KERNEL_NAME_H

#include <stddef.h>
#include <stdint.h>

/* Names are looked at up to here. The longest seen in practice (CUTLASS convolutions, demangled) have 11 KB.
 */
enum { KERNEL_NAME_LIMIT = 32 * 1024 };

struct kernel_name {
    const char *text;
    uint16_t length;
    uint16_t head; /* end of the function's name and template arguments: where its parameter list begins */
    uint16_t close[KERNEL_NAME_LIMIT]; /* of each opening bracket: where its partner is; 0: it has none */
};

/* text must outlive name. */
void kernel_name_scan(struct kernel_name *name, const char *text);

#endif
