/* tests/golden/kernel_names.tsv: real kernel names, what they are, and how they read in 72 and in 40 columns.
 * After a change that is meant, WARPLIGHT_GOLDEN_OUT=<file> makes the tests write their answers there. */
#ifndef WARPLIGHT_TESTS_UNIT_KERNEL_NAMES_H
#define WARPLIGHT_TESTS_UNIT_KERNEL_NAMES_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/analyze.h"

#define KERNEL_NAMES SAMPLES "/../golden/kernel_names.tsv"

enum { FIELD_CLASS, FIELD_WIDE, FIELD_NARROW, FIELD_NAME, FIELDS };

struct kernel_names {
    FILE *file;
    char *line;
    size_t size;
    char *fields[FIELDS];
};

/* Reads the next entry; false at the end. */
static inline int kernel_names_next(struct kernel_names *names)
{
    ssize_t length;
    do {
        length = getline(&names->line, &names->size, names->file);
    } while (length > 0 && names->line[0] == '#');
    if (length <= 0)
        return 0;
    names->line[strcspn(names->line, "\n")] = '\0';
    char *rest = names->line;
    for (int i = 0; i < FIELDS; i++)
        names->fields[i] = strsep(&rest, "\t");
    return names->fields[FIELD_NAME] != NULL;
}

/* C communication, L library, M matrix product, T tensor cores, D double, S single precision on ordinary
 * pipes. */
static inline void kernel_names_class(const char *name, char text[7])
{
    struct kernel_class class = kernel_classify(name);
    text[0] = class.is_comm ? 'C' : '-';
    text[1] = class.is_tuned_library ? 'L' : '-';
    text[2] = class.is_matrix ? 'M' : '-';
    text[3] = class.uses_tensor_cores ? 'T' : '-';
    text[4] = class.is_fp64 ? 'D' : '-';
    text[5] = class.is_fp32_simt ? 'S' : '-';
    text[6] = '\0';
}

#endif
