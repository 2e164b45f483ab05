#include "cmd/root_folder.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/i18n.h"

int check_root_folder(const char *root, struct err *err)
{
    struct stat status;
    int why = !root || stat(root, &status) == 0 ? 0 : errno;
    if (root && why == 0 && !S_ISDIR(status.st_mode))
        why = ENOTDIR;
    if (why == 0)
        return 0;
    return err_set(err, ERR_INPUT, root, -1, _("--root takes the folder that holds a machine's sys and proc"),
                   "%s", strerror(why));
}
