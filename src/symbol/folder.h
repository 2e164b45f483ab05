/* GPU code in the files of a folder, such as Triton's cache. */
#ifndef WARPLIGHT_SYMBOL_FOLDER_H
#define WARPLIGHT_SYMBOL_FOLDER_H

#include "base/err.h"
#include "model/run.h"

/* Reads every file below path that holds GPU code (symbol/binary.h), in the order of their names, links not
 * followed; PTX only where its cubin does not lie beside it. Files of other kinds are passed over, those that
 * cannot be opened are repairs. Returns 0, or fills err if the folder cannot be read. */
int folder_read(struct run *run, const char *path, struct err *err);

#endif
