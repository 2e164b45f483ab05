/* --root: a copy of another machine's /sys and /proc. */
#ifndef WARPLIGHT_CMD_ROOT_FOLDER_H
#define WARPLIGHT_CMD_ROOT_FOLDER_H

#include "base/err.h"

/* Returns 0 if there is such a folder or root is NULL (this machine), else fills err. */
int check_root_folder(const char *root, struct err *err);

#endif
