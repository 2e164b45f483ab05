/* What the fuzz targets of all importers share. */
#ifndef WARPLIGHT_TESTS_FUZZ_FUZZ_IMPORT_H
#define WARPLIGHT_TESTS_FUZZ_FUZZ_IMPORT_H

#include "fuzz.h"

/* Imports the bytes with the importer of this name, seals the run and checks what a run promises. */
void fuzz_import(const char *name, const uint8_t *data, size_t size);

#endif
