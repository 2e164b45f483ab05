#include "source/nvml.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/i18n.h"

/* nvmlReturn_t */
enum {
    INVALID_ARGUMENT = 2,
    NOT_SUPPORTED = 3,
    NO_PERMISSION = 4,
    NOT_FOUND = 6,
    INSUFFICIENT_POWER = 8,
    DRIVER_NOT_LOADED = 9,
    TIMEOUT = 10,
    LIBRARY_NOT_FOUND = 12,
    FUNCTION_NOT_FOUND = 13,
    GPU_IS_LOST = 15,
    RESET_REQUIRED = 16,
    OPERATING_SYSTEM = 17, /* a device file that may not be opened, mostly */
    VERSION_MISMATCH = 18, /* library and loaded kernel module */
    NO_DATA = 21,
    VGPU_ECC_NOT_SUPPORTED = 22,
    ARGUMENT_VERSION_MISMATCH = 25,
    DEPRECATED = 26,
    NOT_READY = 27,
    GPU_NOT_FOUND = 28,
};

enum reading_state nvml_state(int code)
{
    switch (code) {
    case NVML_OK:
        return READING_KNOWN;
    case INVALID_ARGUMENT: /* an id or a structure that this driver does not know */
    case NOT_SUPPORTED:
    case FUNCTION_NOT_FOUND:
    case VGPU_ECC_NOT_SUPPORTED:
    case ARGUMENT_VERSION_MISMATCH:
    case DEPRECATED:
        return READING_UNSUPPORTED;
    case NO_PERMISSION:
    case OPERATING_SYSTEM:
        return READING_NO_PERMISSION;
    case GPU_IS_LOST:
    case RESET_REQUIRED:
    case GPU_NOT_FOUND:
        return READING_LOST;
    case DRIVER_NOT_LOADED:
    case LIBRARY_NOT_FOUND:
    case VERSION_MISMATCH:
        return READING_NO_DRIVER;
    case TIMEOUT:
        return READING_NO_ANSWER;
    case NOT_FOUND:
    case NO_DATA:
    case NOT_READY:
        return READING_UNREAD;
    default:
        return READING_FAILED;
    }
}

/* The stub of a toolkit answers to the plain name: only the driver's own name is asked for. */
static void *load_library(const char **path)
{
    const char *chosen = getenv("WARPLIGHT_NVML");
    const char *const places[] = {"libnvidia-ml.so.1", "/usr/lib/wsl/lib/libnvidia-ml.so.1"};
    if (chosen && *chosen) {
        *path = chosen;
        return dlopen(chosen, RTLD_NOW | RTLD_LOCAL);
    }
    void *library = NULL;
    for (size_t i = 0; i < sizeof places / sizeof *places && !library; i++) {
        *path = places[i];
        library = dlopen(places[i], RTLD_NOW | RTLD_LOCAL);
    }
    *path = library ? *path : places[0];
    return library;
}

static void *find_symbol(void *library, const char *symbol, const char *older)
{
    void *function = dlsym(library, symbol);
    return function || !older ? function : dlsym(library, older);
}

static void find_calls(struct nvml *n)
{
#define NVML_FIND(member, symbol, older, parameters)                                                         \
    *(void **)&n->call.member = find_symbol(n->library, symbol, older);
    NVML_CALLS(NVML_FIND)
#undef NVML_FIND
}

/* Which library a function lies in: one that intercepts dlsym(), as HAMi's libvgpu.so does, hands out its
 * own. */
static bool is_foreign(struct nvml *n, const struct link_map *own, void *function)
{
    Dl_info info;
    if (!function || !own || !dladdr(function, &info) || !info.dli_fname ||
        strcmp(info.dli_fname, own->l_name) == 0)
        return false;
    const char *slash = strrchr(info.dli_fname, '/');
    snprintf(n->interposer, sizeof n->interposer, "%s", slash ? slash + 1 : info.dli_fname);
    return true;
}

static void find_foreign(struct nvml *n)
{
    struct link_map *own = NULL;
    if (dlinfo(n->library, RTLD_DI_LINKMAP, &own) != 0)
        return;
#define NVML_COMPARE(member, symbol, older, parameters)                                                      \
    n->foreign.member = is_foreign(n, own, *(void **)&n->call.member);
    NVML_CALLS(NVML_COMPARE)
#undef NVML_COMPARE
}

/* The ids of the thermal and brake counters moved within the 580 series, onto what was something else:
 * headers of 575.51 to 580.65 have 251 to 253, those of 580.126 and later 269 to 271. */
static bool has_event_reason_fields(const char *driver)
{
    char *end;
    long major = strtol(driver, &end, 10);
    long minor = *end == '.' ? strtol(end + 1, &end, 10) : 0;
    return major > 580 || (major == 580 && minor >= 126);
}

static enum reading_state refuse(struct err *err, int code, const char *path)
{
    enum reading_state why = nvml_state(code);
    if (code == VERSION_MISMATCH)
        err_set(err, ERR_ENV, path, -1, _("reboot, or reload the kernel module"), "%s",
                _("the driver library and the loaded kernel module are of different versions"));
    else if (why == READING_NO_PERMISSION)
        err_set(err, ERR_ENV, path, -1, _("look at the permissions of /dev/nvidia*"), "%s",
                _("the driver may not be used by this user"));
    else
        err_set(err, ERR_ENV, path, -1, NULL, _("the driver library cannot be initialised (NVML error %d)"),
                code);
    return why == READING_UNREAD ? READING_FAILED : why;
}

enum reading_state nvml_open(struct nvml *n, struct err *err)
{
    const char *path;
    *n = (struct nvml){.library = load_library(&path)};
    if (!n->library) {
        err_set(err, ERR_ENV, path, -1, _("install the NVIDIA driver, or name the library in WARPLIGHT_NVML"),
                "%s", _("the driver library is not there"));
        return READING_NO_DRIVER;
    }
    find_calls(n);
    find_foreign(n);
    int code = NVML_ASK(n, init);
    if (code != NVML_OK)
        return refuse(err, code, path);
    n->initialized = true;
    if (NVML_ASK(n, driver_version, n->driver, sizeof n->driver) != NVML_OK)
        n->driver[0] = '\0';
    n->driver[sizeof n->driver - 1] = '\0';
    int cuda = 0;
    code = NVML_ASK(n, cuda_version, &cuda);
    n->cuda = nvml_reading(code, cuda);
    n->has_event_reason_fields = has_event_reason_fields(n->driver);
    return READING_KNOWN;
}

void nvml_close(struct nvml *n)
{
    if (n->initialized)
        NVML_ASK(n, shutdown);
    /* The library stays mapped: threads of its own may still be in it. */
    *n = (struct nvml){0};
}

enum reading_state nvml_find_uuid(const struct nvml *n, const char *uuid, nvml_device *device)
{
    enum reading_state state = nvml_state(NVML_ASK(n, by_uuid, uuid, device));
    return state == READING_UNREAD ? READING_LOST : state;
}

enum reading_state nvml_find_bus(const struct nvml *n, const char *bus, nvml_device *device)
{
    enum reading_state state = nvml_state(NVML_ASK(n, by_bus, bus, device));
    return state == READING_UNREAD ? READING_LOST : state;
}
