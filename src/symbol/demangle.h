/* Demangling of C++ names (Itanium ABI, "_Z…"), which is how ROCm and bare drivers name kernels.
 *
 * The work is libiberty's, when the build found it; without it names stay as they are. Names come from files
 * and are not trusted: their length, nesting and above all the length of the result are bounded, since a few
 * hundred characters of substitutions can ask for terabytes. */
#ifndef WARPLIGHT_SYMBOL_DEMANGLE_H
#define WARPLIGHT_SYMBOL_DEMANGLE_H

#include <stdbool.h>

#include "base/str.h"
#include "model/run.h"

/* Whether this build can demangle at all. */
bool demangle_available(void);
/* Appends the demangled form of name, parameters included, as in "void f<int>(int*)". False, with out as it
 * was, if name is not mangled or asks for too much. AMD's suffix ".kd" (kernel descriptor) is dropped. */
bool demangle(struct str *out, const char *name);
/* Renames the run's kernels and native functions that are mangled; each distinct name is demangled once.
 * Before or after run_seal(). */
void demangle_run(struct run *run);

#endif
