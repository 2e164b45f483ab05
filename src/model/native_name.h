/* Names of native functions, as source/native_code.h makes them: "OBJECT: FUNCTION"; "OBJECT+0xADDRESS" for a
 * function without a name; "OBJECT" where not even its bounds are known. */
#ifndef WARPLIGHT_MODEL_NATIVE_NAME_H
#define WARPLIGHT_MODEL_NATIVE_NAME_H

#include <stddef.h>
#include <string.h>

/* FUNCTION, in the name; NULL: it has none. */
static inline const char *native_name_function(const char *name)
{
    const char *colon = strstr(name, ": ");
    return colon ? colon + strlen(": ") : NULL;
}

/* The length of OBJECT. */
static inline size_t native_name_object(const char *name)
{
    static const char digits[] = "0123456789abcdef", mark[] = "+0x";
    const char *function = native_name_function(name), *plus = strrchr(name, '+');
    if (function)
        return (size_t)(function - name) - strlen(": ");
    if (plus && strncmp(plus, mark, strlen(mark)) == 0 && plus[strlen(mark)] != '\0' &&
        plus[strlen(mark) + strspn(plus + strlen(mark), digits)] == '\0')
        return (size_t)(plus - name);
    return strlen(name);
}

#endif
