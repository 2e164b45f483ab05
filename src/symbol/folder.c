#include "symbol/folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/i18n.h"
#include "base/str.h"
#include "symbol/binary.h"

enum { DEPTH_MAX = 8, FILES_MAX = 100000, SNIFF_BYTES = 4096 };

struct folder {
    struct run *run;
    int64_t files;
};

static bool has_cubin_beside(const struct str *path)
{
    if (!text_ends_with(path->ptr, path->len, ".ptx"))
        return false;
    struct str cubin = {0};
    str_add(&cubin, path->ptr, path->len - strlen(".ptx"));
    str_puts(&cubin, ".cubin");
    bool there = access(str_text(&cubin), F_OK) == 0;
    str_release(&cubin);
    return there;
}

static bool holds_code(const char *path)
{
    char bytes[SNIFF_BYTES];
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return false;
    ssize_t size = read(fd, bytes, sizeof bytes);
    close(fd);
    return size > 0 && binary_is(bytes, (size_t)size);
}

static void read_file(struct folder *folder, const struct str *path)
{
    struct err err;
    if (++folder->files > FILES_MAX || !holds_code(path->ptr) || has_cubin_beside(path))
        return;
    uint32_t sources = (uint32_t)folder->run->sources.count;
    if (binary_read(folder->run, path->ptr, &err) < 0 && folder->run->sources.count == sources)
        run_repair(folder->run, run_add_source(folder->run, path->ptr, "unreadable"),
                   N_("files could not be read"), 1, -1);
}

static int read_folder(struct folder *folder, struct str *path, int depth)
{
    struct dirent **entries;
    int count = scandir(path->ptr, &entries, NULL, alphasort);
    if (count < 0)
        return -1;
    size_t length = path->len;
    for (int i = 0; i < count; i++) {
        const char *name = entries[i]->d_name;
        struct stat st;
        str_addf(path, "/%s", name);
        bool is_self = strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
        if (!is_self && lstat(path->ptr, &st) == 0) {
            if (S_ISDIR(st.st_mode) && depth < DEPTH_MAX)
                read_folder(folder, path, depth + 1);
            else if (S_ISREG(st.st_mode))
                read_file(folder, path);
        }
        str_cut(path, length);
        free(entries[i]);
    }
    free(entries);
    return 0;
}

int folder_read(struct run *run, const char *path, struct err *err)
{
    struct folder folder = {.run = run};
    struct str text = {0};
    str_puts(&text, path);
    while (text.len > 1 && text.ptr[text.len - 1] == '/')
        str_cut(&text, text.len - 1);
    int rc = 0;
    if (read_folder(&folder, &text, 0) < 0)
        rc = err_set(err, errno == EACCES ? ERR_ENV : ERR_INPUT, path, -1, NULL, _("cannot read: %s"),
                     strerror(errno));
    str_release(&text);
    return rc;
}
