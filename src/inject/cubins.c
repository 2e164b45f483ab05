#include "inject/cubins.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/i18n.h"

/* Of a process, in memory where the folder is: modules of large libraries are some MB each. */
static const size_t most_bytes = RING_CUBINS_BYTES;

static struct {
    _Atomic size_t bytes; /* kept */
} cubins;

static bool find_crc(const struct recorder *r, const struct callback_module *module, uint64_t *crc)
{
    cupti_result (*get_crc)(void *params);
    struct cubin_crc params = {
        .size = PROFILER_SIZE(cubin_crc, crc), .bytes = module->bytes, .cubin = module->cubin};
    *(void **)&get_crc = dlsym(r->cupti.library, "cuptiGetCubinCrc");
    if (!get_crc || get_crc(&params) != CUPTI_OK)
        return false;
    *crc = params.crc;
    return true;
}

static bool write_all(int fd, const char *at, size_t left)
{
    while (left > 0) {
        ssize_t written = write(fd, at, left);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return false;
        at += written;
        left -= (size_t)written;
    }
    return true;
}

/* False: there would be too much. */
static bool reserve(size_t bytes)
{
    if (bytes > most_bytes)
        return false;
    bool fits = atomic_fetch_add(&cubins.bytes, bytes) <= most_bytes - bytes;
    if (!fits)
        atomic_fetch_sub(&cubins.bytes, bytes);
    return fits;
}

/* Beyond this limit a write is a fatal signal. */
static bool may_write(size_t bytes)
{
    struct rlimit limit;
    return getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur >= bytes;
}

/* False: there is no room. */
static bool write_file(const char *path, const struct callback_module *module)
{
    errno = 0;
    int fd = may_write(module->bytes) ? open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600)
                                      : -1;
    if (fd < 0)
        return errno == EEXIST; /* loaded before, or by another thread */
    bool whole = write_all(fd, module->cubin, module->bytes);
    close(fd);
    if (!whole)
        unlink(path);
    return whole;
}

void cubins_keep(struct recorder *r, const struct callback_module *module)
{
    char path[4096];
    uint64_t crc;
    if (!module || !module->cubin || module->bytes == 0 || !r->folder || !find_crc(r, module, &crc))
        return;
    int length =
        snprintf(path, sizeof path, "%s/%ld-%llu.cubin", r->folder, (long)r->pid, (unsigned long long)crc);
    if (length < 0 || length >= (int)sizeof path || access(path, F_OK) == 0)
        return;
    if (!reserve(module->bytes) || !write_file(path, module))
        recorder_note(
            r,
            N_("the machine code of some modules was not kept, for there is no room: what was sampled in "
               "it has no source lines"),
            "");
}

void cubins_forget(void)
{
    atomic_store(&cubins.bytes, 0);
}
