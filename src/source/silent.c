#include "source/silent.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/str.h"
#include "base/time.h"
#include "capture/ring.h"

enum { MOST_BYTES = 4 << 20 };
static const int64_t first_pause_ns = 500 * INT64_C(1000000), last_pause_ns = 60 * INT64_C(1000000000);

/* Replaces text by a file of /proc/PID; empty where it may not be read or the process is gone. */
static void read_proc(struct str *text, const char *pid, const char *name)
{
    char path[64], bytes[16 << 10];
    ssize_t got;
    str_cut(text, 0);
    snprintf(path, sizeof path, "/proc/%.20s/%s", pid, name);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    while (fd >= 0 && text->len < MOST_BYTES && (got = read(fd, bytes, sizeof bytes)) > 0)
        str_add(text, bytes, (size_t)got);
    if (fd >= 0)
        close(fd);
}

static bool contains(const struct str *text, const char *what)
{
    return text->len && memmem(text->ptr, text->len, what, strlen(what));
}

/* Whether it holds a device file that only CUDA opens, in its first call: that a library of the driver's is
 * mapped is no use of it yet, as frameworks link to it. WSL and Tegra have files of their own. */
static bool holds_device(const char *pid)
{
    static const char *const devices[] = {"/dev/nvidia-uvm", "/dev/dxg", "/dev/nvhost", "/dev/nvmap"};
    char path[64], target[256];
    bool found = false;
    snprintf(path, sizeof path, "/proc/%.20s/fd", pid);
    DIR *files = opendir(path);
    for (struct dirent *entry; files && !found && (entry = readdir(files));) {
        ssize_t length = readlinkat(dirfd(files), entry->d_name, target, sizeof target - 1);
        target[max_ns(length, 0)] = '\0';
        for (size_t i = 0; i < sizeof devices / sizeof *devices; i++)
            found |= strstr(target, devices[i]) != NULL;
    }
    if (files)
        closedir(files);
    return found;
}

/* variable: of the environment of all processes of the recording. */
static bool is_silent(struct silent *s, const char *pid, const char *folder, const char *variable)
{
    struct str text = {0};
    read_proc(&text, pid, "environ");
    bool silent = contains(&text, variable);
    if (silent) {
        read_proc(&text, pid, "maps");
        silent = contains(&text, "/libcuda.so") && !contains(&text, folder);
        s->has_library = contains(&text, "/libwarplight-inject.so"); /* CUDA's first call loads it */
        silent = silent && (s->has_library || holds_device(pid));
    }
    str_release(&text);
    return silent;
}

int64_t silent_find(struct silent *s, const char *folder)
{
    int64_t now = clock_ns(CLOCK_MONOTONIC), before = s->suspect, found = 0;
    if (now < s->look_ns)
        return 0;
    s->pause_ns = s->pause_ns == 0              ? first_pause_ns
                  : s->pause_ns < last_pause_ns ? 2 * s->pause_ns
                                                : s->pause_ns;
    s->look_ns = now + s->pause_ns;
    s->suspect = 0;
    DIR *all = opendir("/proc");
    if (!all)
        return 0;
    struct str variable = {0};
    str_addf(&variable, RING_ENV_DIR "=%s", folder);
    for (struct dirent *entry; found == 0 && (entry = readdir(all));) {
        if (!isdigit((unsigned char)*entry->d_name) ||
            !is_silent(s, entry->d_name, folder, str_text(&variable)))
            continue;
        int64_t pid = strtoll(entry->d_name, NULL, 10);
        found = pid == before ? pid : 0;
        s->suspect = s->suspect && !found ? s->suspect : pid;
    }
    str_release(&variable);
    closedir(all);
    return found;
}
