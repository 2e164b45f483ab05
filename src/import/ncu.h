/* Nsight Compute's printed output: what its readers share. Formats: doc/formats/ncu.md. */
#ifndef WARPLIGHT_IMPORT_NCU_H
#define WARPLIGHT_IMPORT_NCU_H

#include <stdbool.h>

#include "import/csv.h"
#include "import/import.h"
#include "import/profiles.h"

/* A name of a counter, as opposed to a label that people read: "dram__bytes.sum", "breakdown:sm__…". */
bool ncu_is_counter_name(const char *text, size_t length);
/* The name under which a counter of a section is kept: itself, or "section/label". */
uint32_t ncu_counter_name(struct run *run, struct csv_cell section, struct csv_cell label);
/* Takes a printed value: a number, or why there is none, or a text. */
void ncu_take_value(struct profiles *p, uint32_t profile, uint32_t name, struct csv_cell unit,
                    struct csv_cell value, enum number_style style);
enum advice_kind ncu_advice_kind(struct csv_cell type);

/* Fills err: nothing in the output can be read. Says what ncu itself reported, if it did. */
int ncu_refuse(const char *path, const char *text, size_t length, struct err *err);
/* Fills err: the numbers of the file cannot be told. why: see number_style_of(). */
int ncu_refuse_numbers(const char *path, const char *why, struct err *err);

/* Reads the source page that begins at offset; 0 or a negative code. */
int ncu_read_source(struct run *run, struct stream *in, const struct str *text, size_t offset, char separator,
                    struct err *err);

#endif
