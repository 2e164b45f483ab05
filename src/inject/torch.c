/* PyTorch's operators, through the observers that PyTorch has for this purpose: at::addGlobalCallback() of
 * libtorch_cpu.so has a function of ours called before and after every operator, on every thread, autograd's
 * too, and beside torch.profiler. Nothing is patched, and the script is not changed. The other way would be
 * to switch on torch.autograd.profiler.emit_nvtx() from outside: programs that use torch.profiler would fail.
 *
 * These are C++ functions. What this file relies on, beyond the Itanium C++ ABI of x86-64:
 * - struct callback has the layout of at::RecordFunctionCallback, which is passed by value, in memory;
 * - the first function returns a std::unique_ptr<at::ObserverContext>, that is, through a pointer that the
 *   caller passes before all others and gets back. Ours is always null: PyTorch has nothing of ours to
 * delete;
 * - callbacks may be added and removed while operators run on other threads.
 * None of this is told by the symbols' names, so only versions are used in which it was checked. No other
 * object of PyTorch's is looked into: an operator's scope is told by which of our functions is called.
 *
 * Source: aten/src/ATen/record_function.{h,cpp} of PyTorch 2.0 to 2.15. */
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/i18n.h"
#include "inject/recorder.h"

#define LIBRARY  "libtorch_cpu.so"
#define VERSIONS "2.0–2.15"
enum { VERSION_MAJOR = 2, VERSION_MINOR_LAST = 15 };

enum { SCOPES = 10, DEEPEST = 128, PATH_BYTES = 4096 };

struct callback {
    void **(*start)(void **result, const void *function);
    void (*end)(const void *function, void *context);
    double sampling_probability;
    bool scopes[SCOPES];
    bool needs_inputs, needs_outputs, needs_ids;
};
_Static_assert(sizeof(struct callback) == 40, "as at::RecordFunctionCallback");

/* What is called of PyTorch. */
static struct {
    uint64_t (*add)(struct callback callback);
    void (*remove)(uint64_t handle);
    const char *(*name)(const void *function);
    bool (*is_async)(const void *function);
} torch;

/* An operator is told by the address of its at::RecordFunction. What ends on another thread than it began on
 * stays behind here, and makes room once it is the oldest. */
static __thread struct {
    uint32_t depth;
    struct open_op {
        const void *function;
        int64_t start;
        uint64_t name;
        uint32_t scope;
    } at[DEEPEST];
} stack;

/* ---- called by PyTorch -----------------------------------------------------------------------------------
 */

/* Callbacks may come at any time: after a fork, at the exit, after they were removed. */
static bool records(struct recorder *r)
{
    return !atomic_load_explicit(&r->closed, memory_order_acquire) &&
           atomic_load_explicit(&r->ring->state, memory_order_relaxed) == RING_RECORDING;
}

static void begin(const void *function, enum ring_op_scope scope)
{
    struct recorder *r = &recorder;
    if (!records(r))
        return;
    if (stack.depth == DEEPEST) {
        memmove(&stack.at[0], &stack.at[1], (DEEPEST - 1) * sizeof *stack.at);
        stack.depth--;
        atomic_fetch_add_explicit(&r->ring->dropped_here, 1, memory_order_relaxed);
    }
    const char *name = torch.name(function);
    struct open_op *op = &stack.at[stack.depth++];
    *op = (struct open_op){.function = function, .name = texts_hash(r, name ? name : ""), .scope = scope};
    op->start = recorder_now(); /* last: our own time is not the operator's */
}

/* Takes the innermost operator of this address off the stack. */
static bool take(const void *function, struct open_op *op)
{
    uint32_t at = stack.depth;
    while (at > 0 && stack.at[at - 1].function != function)
        at--;
    if (at == 0)
        return false;
    *op = stack.at[at - 1];
    memmove(&stack.at[at - 1], &stack.at[at], (stack.depth - at) * sizeof *stack.at);
    stack.depth--;
    return true;
}

static void end(const void *function, void *context)
{
    (void)context;
    struct recorder *r = &recorder;
    int64_t now = recorder_now();
    struct open_op op;
    if (!take(function, &op) || !records(r)) /* in this order: a pause leaves nothing behind */
        return;
    struct ring_op record = {.kind = RING_OP,
                             .thread = records_thread(),
                             .start = op.start,
                             .end = now,
                             .name = op.name,
                             .scope = op.scope};
    records_add(r, &record, sizeof record);
}

static void **begin_function(void **result, const void *function)
{
    *result = NULL;
    begin(function, RING_OP_FUNCTION);
    return result;
}

static void **begin_backward(void **result, const void *function)
{
    *result = NULL;
    begin(function, RING_OP_BACKWARD);
    return result;
}

static void **begin_script(void **result, const void *function)
{
    *result = NULL;
    begin(function, RING_OP_SCRIPT);
    return result;
}

static void **begin_user(void **result, const void *function)
{
    struct open_op stale;
    *result = NULL;
    if (!torch.is_async(function))
        begin(function, RING_OP_USER);
    else /* a collective, say, which is no work of this thread; what had its address before ended elsewhere */
        while (take(function, &stale))
            ;
    return result;
}

/* ---- finding it ------------------------------------------------------------------------------------------
 */

struct search {
    unsigned long long loaded; /* objects ever, when it was last looked */
    char path[PATH_BYTES];
};

static int look_at_object(struct dl_phdr_info *info, size_t size, void *context)
{
    struct search *search = context;
    (void)size;
    if (info->dlpi_adds == search->loaded)
        return 1; /* nothing new */
    const char *slash = strrchr(info->dlpi_name, '/');
    if (!slash || strncmp(slash + 1, LIBRARY, strlen(LIBRARY)) != 0)
        return 0;
    snprintf(search->path, sizeof search->path, "%s", info->dlpi_name);
    return 1;
}

static int note_count(struct dl_phdr_info *info, size_t size, void *loaded)
{
    (void)size;
    *(unsigned long long *)loaded = info->dlpi_adds;
    return 1;
}

/* Is libtorch_cpu.so among the objects that are mapped? Looks only when there are new ones. */
static bool find_library(struct search *search)
{
    unsigned long long loaded = search->loaded;
    dl_iterate_phdr(note_count, &loaded); /* before: one that comes meanwhile is seen next time */
    dl_iterate_phdr(look_at_object, search);
    search->loaded = loaded;
    return search->path[0] != '\0';
}

/* Reads the version that stands in a file after a prefix: "2.4.1+cu121". */
static bool read_version(const char *path, const char *prefix, int *major, int *minor)
{
    char text[4096];
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    ssize_t length = fd >= 0 ? read(fd, text, sizeof text - 1) : -1;
    if (fd >= 0)
        close(fd);
    text[length > 0 ? length : 0] = '\0';
    const char *at = strstr(text, prefix);
    if (!at)
        return false;
    char *dot, *rest;
    long first = strtol(at + strlen(prefix), &dot, 10);
    if (*dot != '.')
        return false;
    long second = strtol(dot + 1, &rest, 10);
    if (rest == dot + 1 || first < 0 || first > 999 || second < 0 || second > 999)
        return false;
    *major = (int)first;
    *minor = (int)second;
    return true;
}

/* The folder above the library's holds version.py in the Python package, build-version in the C++ one. */
static bool find_version(const char *library, int *major, int *minor)
{
    static const struct {
        const char *file, *prefix;
    } places[] = {{"version.py", "__version__ = '"}, {"build-version", ""}};
    char path[PATH_BYTES + 32];
    const char *slash = strrchr(library, '/');
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        snprintf(path, sizeof path, "%.*s/../%s", (int)(slash - library), library, places[i].file);
        if (read_version(path, places[i].prefix, major, minor))
            return true;
    }
    return false;
}

/* Fills torch; false, with a sentence in why and what stands for {0} in it, where it cannot be used. */
static bool prepare(const char *library, const char **why, char *detail, size_t detail_size)
{
    int major, minor;
#ifndef __x86_64__
    *why = N_("PyTorch's operators are recorded on x86-64 only");
    return false;
#endif
    if (!find_version(library, &major, &minor)) {
        snprintf(detail, detail_size, "%.200s", library);
        *why = N_("PyTorch's operators are not recorded: nothing beside {0} tells its version");
        return false;
    }
    if (major != VERSION_MAJOR || minor > VERSION_MINOR_LAST) {
        snprintf(detail, detail_size, "%d.%d; " VERSIONS, major, minor);
        *why =
            N_("PyTorch's operators are not recorded: its version is not one of those that are known ({0})");
        return false;
    }
    /* Loads nothing. It waits until a library that is just being loaded has run its initialisers. */
    void *handle = dlopen(library, RTLD_LAZY | RTLD_NOLOAD);
    if (handle) {
        *(void **)&torch.add = dlsym(handle, "_ZN2at17addGlobalCallbackENS_22RecordFunctionCallbackE");
        *(void **)&torch.remove = dlsym(handle, "_ZN2at14removeCallbackEm");
        *(void **)&torch.name = dlsym(handle, "_ZNK2at14RecordFunction4nameEv");
        *(void **)&torch.is_async = dlsym(handle, "_ZNK2at14RecordFunction7isAsyncEv");
    }
    if (torch.add && torch.remove && torch.name && torch.is_async)
        return true;
    snprintf(detail, detail_size, "%.200s", library);
    *why = N_("PyTorch's operators are not recorded: {0} lacks a function that this needs");
    return false;
}

/* ---- coming and going ------------------------------------------------------------------------------------
 */

static const struct {
    enum ring_op_scope scope;
    void **(*start)(void **result, const void *function);
} scopes[] = {{RING_OP_FUNCTION, begin_function},
              {RING_OP_BACKWARD, begin_backward},
              {RING_OP_SCRIPT, begin_script},
              {RING_OP_USER, begin_user}};

enum { CALLBACKS = sizeof scopes / sizeof *scopes };

enum { UNSEEN, READY, UNUSABLE };

/* Of the process: a child that was forked has inherited PyTorch's list of callbacks. */
static struct {
    _Atomic bool busy; /* a thread is at work here */
    _Atomic int state;
    bool registered; /* guarded by r->start */
    uint64_t handles[CALLBACKS];
    struct search search;
} here;

void torch_forget(void)
{
    stack.depth = 0;
    atomic_store_explicit(&here.busy, false, memory_order_relaxed); /* that thread is not in the child */
}

static void look_for_torch(struct recorder *r)
{
    const char *why;
    char detail[RING_MESSAGE_BYTES] = "";
    if (!find_library(&here.search))
        return;
    bool usable = prepare(here.search.path, &why, detail, sizeof detail);
    if (!usable)
        recorder_note(r, why, detail);
    atomic_store_explicit(&here.state, usable ? READY : UNUSABLE, memory_order_release);
}

/* The caller holds r->start: no process may be forked while PyTorch holds a lock for us. */
static void set_registered(bool wanted)
{
    for (int i = 0; i < CALLBACKS && here.registered != wanted; i++) {
        if (!wanted) {
            torch.remove(here.handles[i]);
            continue;
        }
        struct callback callback = {.start = scopes[i].start, .end = end, .sampling_probability = 1};
        callback.scopes[scopes[i].scope] = true;
        here.handles[i] = torch.add(callback);
    }
    here.registered = wanted;
}

void torch_follow(struct recorder *r)
{
    if (!r->options.torch_ops || atomic_exchange_explicit(&here.busy, true, memory_order_acquire))
        return;
    if (here.state == UNSEEN && records(r))
        look_for_torch(r); /* without r->start: it may wait for a library whose initialiser forks */
    if (here.state == READY) {
        pthread_mutex_lock(&r->start);
        set_registered(records(r));
        pthread_mutex_unlock(&r->start);
    }
    atomic_store_explicit(&here.busy, false, memory_order_release);
}

void torch_finish(struct recorder *r)
{
    if (r->options.torch_ops && here.state == UNSEEN && records(r))
        recorder_note(r, N_("PyTorch's operators are not recorded: this process never loaded {0}"), LIBRARY);
}
