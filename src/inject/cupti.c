#include "inject/cupti.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/i18n.h"

struct symbol {
    const char *name;
    size_t at; /* offset of the pointer in struct cupti */
    int optional;
};

#define SYMBOL(field, optional)                                                                              \
    {                                                                                                        \
        "cupti" #field, offsetof(struct cupti, field), optional                                              \
    }

static const struct symbol symbols[] = {
    SYMBOL(GetVersion, 0),
    SYMBOL(GetTimestamp, 0),
    SYMBOL(GetResultString, 0),
    SYMBOL(GetCallbackName, 0),
    SYMBOL(ActivityRegisterCallbacks, 0),
    SYMBOL(ActivityEnable, 0),
    SYMBOL(ActivityDisable, 0),
    SYMBOL(ActivityGetNextRecord, 0),
    SYMBOL(ActivityGetNumDroppedRecords, 0),
    SYMBOL(ActivityFlushAll, 0),
    SYMBOL(ActivityEnableAndDump, 1),
    SYMBOL(ActivityConfigureUnifiedMemoryCounter, 1),
    SYMBOL(SetThreadIdType, 1),
    SYMBOL(ActivityEnableRuntimeApi, 1),
    SYMBOL(ActivityEnableDriverApi, 1),
    SYMBOL(Subscribe, 1),
    SYMBOL(Unsubscribe, 1),
    SYMBOL(EnableCallback, 1),
};

static int open_at(struct cupti *cupti, const char *path, int flags)
{
    void *library = dlopen(path, flags | RTLD_NOW);
    if (!library)
        return -1;
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
        void *address = dlsym(library, symbols[i].name);
        if (!address && !symbols[i].optional) {
            dlclose(library);
            return -1;
        }
        memcpy((char *)cupti + symbols[i].at, &address, sizeof address);
    }
    cupti->library = library;
    Dl_info info;
    const char *found = dladdr((void *)cupti->GetVersion, &info) && info.dli_fname ? info.dli_fname : path;
    snprintf(cupti->path, sizeof cupti->path, "%s", found);
    return 0;
}

/* Calls visit() with the path of each mapped file whose name contains part, until it returns 0. */
static int each_mapped(const char *part, int (*visit)(struct cupti *cupti, const char *path),
                       struct cupti *cupti)
{
    FILE *maps = fopen("/proc/self/maps", "re");
    if (!maps)
        return -1;
    char line[4096 + 256];
    int found = -1;
    while (found != 0 && fgets(line, sizeof line, maps)) {
        char *path = strchr(line, '/');
        if (!path)
            continue;
        path[strcspn(path, "\n")] = '\0';
        const char *name = strrchr(path, '/') + 1;
        if (strncmp(name, part, strlen(part)) == 0)
            found = visit(cupti, path);
    }
    fclose(maps);
    return found;
}

static int use_mapped(struct cupti *cupti, const char *path)
{
    return open_at(cupti, path, RTLD_NOLOAD);
}

/* Beside libcudart: pip wheels keep it in nvidia/cuda_runtime/lib with CUPTI in nvidia/cuda_cupti/lib, or all
 * in nvidia/cu13/lib; toolkits keep CUPTI in extras/CUPTI/lib64. */
static int use_neighbour(struct cupti *cupti, const char *path)
{
    static const char *const folders[] = {"", "/../../cuda_cupti/lib", "/../extras/CUPTI/lib64",
                                          "/../../../extras/CUPTI/lib64"};
    static const char *const names[] = {"libcupti.so.13", "libcupti.so.12", "libcupti.so.11.8",
                                        "libcupti.so"};
    char folder[4096], candidate[4096 + 128];
    snprintf(folder, sizeof folder, "%s", path);
    *strrchr(folder, '/') = '\0';
    for (size_t f = 0; f < sizeof folders / sizeof *folders; f++)
        for (size_t n = 0; n < sizeof names / sizeof *names; n++) {
            snprintf(candidate, sizeof candidate, "%s%s/%s", folder, folders[f], names[n]);
            if (open_at(cupti, candidate, 0) == 0)
                return 0;
        }
    return -1;
}

uint32_t cupti_driver_version(void)
{
    int version = 0;
    void *driver = dlopen("libcuda.so.1", RTLD_NOLOAD | RTLD_NOW);
    int (*get)(int *) = NULL;
    if (driver)
        *(void **)&get = dlsym(driver, "cuDriverGetVersion");
    return get && get(&version) == 0 && version > 0 ? (uint32_t)version : 0;
}

/* cuInit() waits for one that runs elsewhere, and does nothing after. */
void cupti_await_driver(void)
{
    void *driver = dlopen("libcuda.so.1", RTLD_NOLOAD | RTLD_NOW);
    int (*initialize)(unsigned) = NULL;
    if (driver)
        *(void **)&initialize = dlsym(driver, "cuInit");
    if (initialize)
        initialize(0);
}

int cupti_open(struct cupti *cupti, const char **why, char *detail, size_t detail_size)
{
    *cupti = (struct cupti){0};
    const char *chosen = getenv("WARPLIGHT_CUPTI");
    if (chosen && *chosen) {
        if (open_at(cupti, chosen, 0) == 0)
            return 0;
        *why = N_("WARPLIGHT_CUPTI names a library that cannot be used: {0}");
        snprintf(detail, detail_size, "%s", dlerror());
        return -1;
    }
    if (each_mapped("libcupti.so", use_mapped, cupti) == 0 ||
        each_mapped("libcudart", use_neighbour, cupti) == 0)
        return 0;
    char name[128];
    uint32_t major = cupti_driver_version() / 1000;
    /* The newest that the driver can serve; an older one works with a newer driver. */
    for (uint32_t version = major ? major : 13; version >= 11; version--) {
        snprintf(name, sizeof name, version == 11 ? "libcupti.so.11.8" : "libcupti.so.%u", version);
        if (open_at(cupti, name, 0) == 0)
            return 0;
        snprintf(name, sizeof name, "/usr/local/cuda-%u/extras/CUPTI/lib64/libcupti.so", version);
        if (open_at(cupti, name, 0) == 0)
            return 0;
    }
    if (open_at(cupti, "libcupti.so", 0) == 0 ||
        open_at(cupti, "/usr/local/cuda/extras/CUPTI/lib64/libcupti.so", 0) == 0)
        return 0;
    *why =
        N_("no usable libcupti was found: install it (pip install nvidia-cuda-cupti, or the CUDA toolkit) or "
           "name it in WARPLIGHT_CUPTI");
    return -1;
}
