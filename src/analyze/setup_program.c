/* The program: which GPUs it gets, whether its CUDA fits the driver, and its limits. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/setup_checks.h"
#include "analyze/visible.h"
#include "know/know.h"

/* ---- which GPUs ---------------------------------------------------------------------------------------- */

struct order {
    const struct setup_gpu *gpus[VISIBLE_MOST];
    const char *uuids[VISIBLE_MOST];
    size_t count;
    bool is_sure; /* all are of one kind, or the program asked for the order of the bus */
};

/* Whether the program reaches a GPU: CUDA counts no other. */
static bool is_reachable(const struct setup *s, const struct setup_gpu *gpu)
{
    vec_each (&s->nodes, node)
        if (setup_is_gpu_node(node) && node->error == 0 &&
            (gpu->minor < 0 || strtol(node->path + strlen("/dev/nvidia"), NULL, 10) == gpu->minor))
            return true;
    return false;
}

/* The GPUs that the driver has. CUDA's own order puts the fastest first and promises nothing of the rest. */
static void find_order(struct order *order, const struct setup *s)
{
    const char *wanted = setup_variable(s, "CUDA_DEVICE_ORDER");
    *order = (struct order){.is_sure = true};
    vec_each (&s->gpus, gpu) {
        if (gpu->vendor != PCI_NVIDIA || strcmp(gpu->driver, "nvidia") != 0 || order->count == VISIBLE_MOST ||
            !is_reachable(s, gpu))
            continue;
        order->is_sure &= order->count == 0 || gpu->device == order->gpus[0]->device;
        order->uuids[order->count] = gpu->uuid;
        order->gpus[order->count++] = gpu;
    }
    order->is_sure |= wanted && strcmp(wanted, "PCI_BUS_ID") == 0;
}

static void say_list(struct diagnosis *d, struct check *check, const struct visible *visible)
{
    int length = (int)(visible->entry_length < 80 ? visible->entry_length : 80);
    switch (visible->end) {
    case VISIBLE_EMPTY:
        check->meaning = diagnosis_words(d, N_("An empty CUDA_VISIBLE_DEVICES hides every GPU."));
        break;
    case VISIBLE_INVALID:
        check->meaning = diagnosis_words(
            d, N_("\"%.*s\" names no GPU; CUDA ends the list there, and what follows is not used."), length,
            visible->entry);
        break;
    case VISIBLE_AMBIGUOUS:
        check->meaning =
            diagnosis_words(d, N_("\"%.*s\" is the beginning of several UUIDs; CUDA ends the list there."),
                            length, visible->entry);
        break;
    case VISIBLE_MIXED:
        check->meaning = diagnosis_words(
            d, N_("Numbers and UUIDs do not mix; CUDA ends the list at \"%.*s\"."), length, visible->entry);
        break;
    case VISIBLE_DUPLICATE:
        check->confidence_ratio = 0.7;
        check->meaning = diagnosis_words(d, N_("A GPU is listed twice (\"%.*s\"); CUDA then uses none."),
                                         length, visible->entry);
        break;
    default:
        return;
    }
    check->action = diagnosis_words(d, N_("correct CUDA_VISIBLE_DEVICES before the program starts"));
}

static void check_visible(struct diagnosis *d, const struct setup *s)
{
    const char *value = setup_variable(s, "CUDA_VISIBLE_DEVICES");
    struct order order;
    struct visible visible;
    find_order(&order, s);
    if (order.count == 0)
        return;
    visible_resolve(&visible, value, order.uuids, order.count);
    bool as_meant = visible.end == VISIBLE_ALL || visible.end == VISIBLE_LISTED || visible.end == VISIBLE_MIG;
    bool any = visible.count > 0 || visible.end == VISIBLE_MIG;
    bool unsure = !order.is_sure && order.count > 1 && visible.end != VISIBLE_MIG;
    enum check_status status = !any ? CHECK_FAIL : !as_meant || unsure ? CHECK_WARN : CHECK_OK;
    struct check *check = diagnosis_check(d, "gpu-visible", status, unsure ? 0.5 : 0.95);
    check->title =
        visible.end == VISIBLE_MIG ? diagnosis_words(d, N_("the program gets one MIG instance"))
        : any ? diagnosis_words(d, N_("GPUs that the program gets: %zu of %zu"), visible.count, order.count)
              : diagnosis_words(d, N_("the program gets no GPU"));
    say_list(d, check, &visible);
    if (any && as_meant && unsure) {
        check->meaning =
            diagnosis_words(d, N_("The GPUs are of different kinds: CUDA puts the fastest first, "
                                  "nvidia-smi goes by the bus, so the numbers differ."));
        check->action = diagnosis_words(d, N_("set CUDA_DEVICE_ORDER=PCI_BUS_ID, or name GPUs by UUID"));
    }
    if (value)
        diagnosis_evidence(d, check, "CUDA_VISIBLE_DEVICES", value);
    for (size_t i = 0; i < visible.count && !unsure; i++) {
        char where[32];
        const struct setup_gpu *gpu = order.gpus[visible.gpus[i]];
        snprintf(where, sizeof where, "cuda:%zu", i);
        diagnosis_evidence(d, check, where, gpu->bus);
    }
}

/* ---- versions ------------------------------------------------------------------------------------------ */

static int parse_cuda(const char *text)
{
    char *end;
    long major = strtol(text, &end, 10);
    long minor = *end == '.' ? strtol(end + 1, NULL, 10) : 0;
    return major > 0 && major < 100 && minor >= 0 && minor < 100 ? (int)(major * 1000 + minor * 10) : 0;
}

/* "570.86.10" against "570.26": as numbers, part by part. */
static bool is_at_least(const char *version, const char *least)
{
    for (;;) {
        char *end, *least_end;
        long part = strtol(version, &end, 10), least_part = strtol(least, &least_end, 10);
        if (part != least_part || *least_end != '.')
            return part >= least_part;
        if (*end != '.')
            return false;
        version = end + 1;
        least = least_end + 1;
    }
}

/* The CUDA version that the driver brings, as 1000 × major + 10 × minor; 0: not known, as of drivers that are
 * newer than the table. */
static int driver_cuda(const struct setup *s)
{
    for (size_t i = 0; i < know_cuda_count; i++) {
        const char *first = know_cudas[i].linux_exact;
        if (!*first || !is_at_least(s->driver_version, first))
            continue;
        bool is_newer = i == 0 && strtol(s->driver_version, NULL, 10) > strtol(first, NULL, 10);
        return is_newer ? 0 : parse_cuda(know_cudas[i].cuda);
    }
    return 0;
}

/* The driver branch from which on programs of that major version of CUDA run; 0: not known. */
static int oldest_branch(int major)
{
    const struct know_cuda *cuda = know_cuda_find(major, 0);
    return cuda ? (int)strtol(cuda->linux_any_minor, NULL, 10) : 0;
}

static void check_cuda(struct diagnosis *d, const struct setup *s, const char *id, const char *what,
                       const char *where, const char *version)
{
    int wanted = parse_cuda(version), has = driver_cuda(s);
    if (wanted == 0 || has == 0)
        return;
    bool same_major = wanted / 1000 == has / 1000;
    enum check_status status = wanted <= has                   ? CHECK_OK
                               : same_major && wanted >= 11000 ? CHECK_WARN
                                                               : CHECK_FAIL;
    struct check *check = diagnosis_check(d, id, status, status == CHECK_OK ? 0.95 : 0.9);
    diagnosis_evidence(d, check, where, version);
    diagnosis_evidence(d, check, "/proc/driver/nvidia/version", s->driver_version);
    if (status == CHECK_OK) {
        check->title = diagnosis_words(d, N_("the driver (CUDA %d.%d) can run %s of CUDA %s"), has / 1000,
                                       has % 1000 / 10, what, version);
        return;
    }
    check->title = diagnosis_words(d, N_("%s is of CUDA %s, the driver of CUDA %d.%d"), what, version,
                                   has / 1000, has % 1000 / 10);
    if (status == CHECK_WARN) {
        check->meaning = diagnosis_words(d, N_("Within a major version that works, but PTX of the newer one "
                                               "is refused (error 222) and its newer functions fail."));
        check->action = diagnosis_words(d, N_("update the driver, or use a build for the driver's CUDA"));
    } else {
        check->meaning = diagnosis_words(d, N_("CUDA says that the driver is too old (error 35)."));
        check->action =
            oldest_branch(wanted / 1000)
                ? diagnosis_words(d,
                                  N_("update the driver to %d or later, or install a build for "
                                     "CUDA %d"),
                                  oldest_branch(wanted / 1000), has / 1000)
                : diagnosis_words(d, N_("update the driver, or use a build for the driver's CUDA"));
    }
}

static void check_torch(struct diagnosis *d, const struct setup *s)
{
    if (!*s->torch)
        return;
    if (*s->torch_cuda) {
        check_cuda(d, s, "torch-cuda", "PyTorch", s->torch_path, s->torch_cuda);
        return;
    }
    if (!setup_has_nvidia(s) || strstr(s->torch, "rocm"))
        return;
    struct check *check = diagnosis_check(d, "torch-cuda", CHECK_FAIL, 0.9);
    check->title = diagnosis_words(d, N_("PyTorch %s was built without CUDA"), s->torch);
    check->meaning =
        diagnosis_words(d, N_("It runs on the CPU only: \"Torch not compiled with CUDA enabled\"."));
    check->action = diagnosis_words(d, N_("install a build with CUDA: see the installation page of PyTorch"));
    diagnosis_evidence(d, check, s->torch_path, s->torch);
}

/* ---- limits -------------------------------------------------------------------------------------------- */

/* Sizes that the system gives in bytes are whole MiB, or small. */
static void put_bytes(struct str *text, int64_t bytes)
{
    if (bytes >> 20)
        str_addf(text, "%lld MiB", (long long)(bytes >> 20));
    else
        str_addf(text, "%lld KiB", (long long)(bytes >> 10));
}

static void add_limit(struct diagnosis *d, struct check *check, const char *where, int64_t value, bool bytes)
{
    struct str text = {0};
    if (value == LIMIT_NONE)
        str_puts(&text, "unlimited");
    else if (value >= 0 && bytes)
        put_bytes(&text, value);
    else if (value >= 0)
        str_addf(&text, "%lld", (long long)value);
    if (text.len)
        diagnosis_evidence(d, check, where, str_text(&text));
    str_release(&text);
}

static void list_limits(struct diagnosis *d, const struct setup *s)
{
    if (s->memlock == LIMIT_UNKNOWN && s->nofile == LIMIT_UNKNOWN)
        return;
    struct check *check = diagnosis_check(d, "limits", CHECK_OK, 1);
    check->title = diagnosis_words(d, N_("limits of the program"));
    add_limit(d, check, "max locked memory", s->memlock, true);
    add_limit(d, check, "max open files", s->nofile, false);
    add_limit(d, check, "/dev/shm", s->shm_bytes, true);
}

static void check_limits(struct diagnosis *d, const struct setup *s)
{
    enum { FEW_FILES = 1024 };
    const int64_t small_shm = INT64_C(64) << 20;
    if (s->shm_bytes != UNKNOWN && s->shm_bytes <= small_shm) {
        struct check *check = diagnosis_check(d, "limit-shm", CHECK_WARN, 0.8);
        check->title = diagnosis_words(d, N_("/dev/shm has %lld MiB"), (long long)(s->shm_bytes >> 20));
        check->meaning =
            diagnosis_words(d, N_("Data loaders with worker processes and NCCL need more: they end "
                                  "with \"bus error\" or \"no space left on device\"."));
        check->action = diagnosis_words(d, N_("start the container with --shm-size=8g or --ipc=host"));
    }
    if (s->nofile >= 0 && s->nofile < FEW_FILES) {
        struct check *check = diagnosis_check(d, "limit-files", CHECK_WARN, 0.7);
        check->title = diagnosis_words(d, N_("the program may open %lld files only"), (long long)s->nofile);
        check->action = diagnosis_words(d, N_("raise the limit: ulimit -n 65536"));
    }
}

static void check_process(struct diagnosis *d, const struct setup *s)
{
    if (!s->process_error)
        return;
    struct check *check = diagnosis_check(d, "process", s->pid ? CHECK_UNKNOWN : CHECK_FAIL, 1);
    if (!s->pid) {
        check->title = diagnosis_words(d, N_("the program %s was not found"), s->program);
        check->action = diagnosis_words(d, N_("correct its path, or PATH"));
        return;
    }
    check->title = diagnosis_words(d, N_("process %lld could not be looked at: %s"), (long long)s->pid,
                                   strerror(s->process_error));
    check->action = s->process_error == ENOENT
                        ? diagnosis_words(d, N_("give the pid of a process that runs"))
                        : diagnosis_words(d, N_("run doctor as the same user, or as root"));
}

void setup_check_program(struct diagnosis *d, const struct setup *s)
{
    const struct setup_library *runtime = setup_library(s, "libcudart.so");
    check_process(d, s);
    check_visible(d, s);
    if (runtime)
        check_cuda(d, s, "runtime-cuda", "libcudart", runtime->path, runtime->version);
    else if (!s->pid)
        check_cuda(d, s, "toolkit-cuda", "nvcc", s->toolkit_path, s->toolkit);
    check_torch(d, s);
    check_limits(d, s);
    list_limits(d, s);
}
