#include "source/counter_plan.h"

#include <dlfcn.h>
#include <glob.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/i18n.h"
#include "base/mem.h"
#include "capture/profiler.h"
#include "source/counter_sets.h"

/* ---- CUPTI ----------------------------------------------------------------------------------------------
 */

enum call { CHIPS, INITIALIZE, DEINITIALIZE, ADD, CONFIG_SIZE, CONFIG, PASSES, CALLS };

static const char *const names[CALLS] = {
    [CHIPS] = "cuptiProfilerHostGetSupportedChips",        [INITIALIZE] = "cuptiProfilerHostInitialize",
    [DEINITIALIZE] = "cuptiProfilerHostDeinitialize",      [ADD] = "cuptiProfilerHostConfigAddMetrics",
    [CONFIG_SIZE] = "cuptiProfilerHostGetConfigImageSize", [CONFIG] = "cuptiProfilerHostGetConfigImage",
    [PASSES] = "cuptiProfilerHostGetNumOfPasses",
};

struct host {
    void *library;
    int (*calls[CALLS])(void *params);
    bool lacks_driver; /* one was passed over that cannot do without */
};

/* CUPTI looks for its companion by name alone: one that is loaded is found. */
static void open_companion(const char *path)
{
    struct str companion = {0};
    const char *slash = strrchr(path, '/');
    if (slash) {
        str_add(&companion, path, (size_t)(slash + 1 - path));
        str_puts(&companion, "libnvperf_host.so");
        dlopen(str_text(&companion), RTLD_NOW);
    }
    str_release(&companion);
}

static bool has_driver(void)
{
    void *driver = dlopen("libcuda.so.1", RTLD_NOW);
    if (driver)
        dlclose(driver);
    return driver != NULL;
}

/* Since 13.2, which brought sets of one pass, CUPTI plans with the driver only: 13.2 crashes without,
 * whatever is called, and later ones answer 999. */
static bool needs_driver(void *library)
{
    return dlsym(library, "cuptiProfilerHostGetSinglePassSets") != NULL;
}

static bool open_at(struct host *host, const char *path)
{
    open_companion(path);
    void *library = dlopen(path, RTLD_NOW);
    if (library && needs_driver(library) && !has_driver()) {
        host->lacks_driver = true;
        dlclose(library);
        return false;
    }
    for (int i = 0; library && i < CALLS; i++) {
        *(void **)&host->calls[i] = dlsym(library, names[i]);
        if (!host->calls[i]) { /* older than 12.6 */
            dlclose(library);
            return false;
        }
    }
    host->library = library;
    return library != NULL;
}

/* Where pip and the toolkit put it. */
static const char *const places[] = {
    "$VIRTUAL_ENV/lib/python3*/site-packages/nvidia/cu13/lib/libcupti.so.1?",
    "$VIRTUAL_ENV/lib/python3*/site-packages/nvidia/cuda_cupti/lib/libcupti.so.1?",
    "$CONDA_PREFIX/lib/libcupti.so.1?",
    "$HOME/.local/lib/python3*/site-packages/nvidia/cu13/lib/libcupti.so.1?",
    "$HOME/.local/lib/python3*/site-packages/nvidia/cuda_cupti/lib/libcupti.so.1?",
    "/usr/local/cuda/extras/CUPTI/lib64/libcupti.so",
    "/usr/local/cuda-1?*/extras/CUPTI/lib64/libcupti.so",
    "/usr/lib/python3*/site-packages/nvidia/cu13/lib/libcupti.so.1?",
    "/usr/local/lib/python3*/*-packages/nvidia/cu13/lib/libcupti.so.1?",
    "/usr/local/lib/python3*/*-packages/nvidia/cuda_cupti/lib/libcupti.so.1?",
};

/* A place with the value of its variable; false: that is not set. */
static bool expand(struct str *pattern, const char *place)
{
    if (*place != '$') {
        str_puts(pattern, place);
        return true;
    }
    char variable[32] = "";
    size_t length = strcspn(place + 1, "/");
    if (length < sizeof variable)
        memcpy(variable, place + 1, length);
    const char *value = getenv(variable);
    if (value && *value)
        str_addf(pattern, "%s%s", value, place + 1 + length);
    return value && *value;
}

static bool find_in_places(struct host *host, struct str *path)
{
    for (size_t i = 0; i < sizeof places / sizeof *places && !host->library; i++) {
        struct str pattern = {0};
        glob_t found = {0};
        if (expand(&pattern, places[i]) && glob(str_text(&pattern), 0, NULL, &found) == 0)
            for (size_t n = 0; n < found.gl_pathc && !host->library; n++)
                if (open_at(host, found.gl_pathv[n]))
                    str_puts(path, found.gl_pathv[n]);
        globfree(&found);
        str_release(&pattern);
    }
    return host->library != NULL;
}

static int needs_another(const char *where, struct err *err)
{
    return err_set(err, ERR_ENV, where, -1,
                   _("where there is none, name one of 12.6 to 13.1 in WARPLIGHT_CUPTI: pip download "
                     "nvidia-cuda-cupti==13.1.115, and unpack it"),
                   _("CUPTI of 13.2 and newer plans only beside NVIDIA's driver"));
}

static int find_host(struct host *host, struct str *path, struct err *err)
{
    static const char *const plain[] = {"libcupti.so.13", "libcupti.so.12", "libcupti.so"};
    const char *chosen = getenv("WARPLIGHT_CUPTI");
    if (chosen && *chosen) {
        str_puts(path, chosen);
        if (open_at(host, chosen))
            return 0;
        if (host->lacks_driver)
            return needs_another(chosen, err);
        const char *why = dlerror();
        return err_set(
            err, ERR_ENV, chosen, -1,
            _("name another one in WARPLIGHT_CUPTI, or unset it; it must be of CUDA 12.6 or newer"),
            _("this CUPTI cannot plan: %s"), why ? why : _("it is too old"));
    }
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
        if (open_at(host, plain[i])) {
            str_puts(path, plain[i]);
            return 0;
        }
    if (find_in_places(host, path))
        return 0;
    if (host->lacks_driver)
        return needs_another("libcupti", err);
    return err_set(err, ERR_ENV, "libcupti", -1,
                   _("install it (pip install nvidia-cuda-cupti) or name it in WARPLIGHT_CUPTI"),
                   _("no CUPTI of CUDA 12.6 or newer was found, which knows what each GPU can count"));
}

/* ---- plans ----------------------------------------------------------------------------------------------
 */

/* Passes of metrics on a chip; 0: it does not have one of them. */
static size_t passes_of(const struct host *host, const char *chip, const char *const *metrics, size_t count)
{
    struct profiler_host_initialize h = {
        .size = PROFILER_SIZE(profiler_host_initialize, object), .type = PROFILER_TYPE_RANGE, .chip = chip};
    if (count == 0 || host->calls[INITIALIZE](&h) != 0)
        return 0;
    struct profiler_host_add add = {.size = PROFILER_SIZE(profiler_host_add, count),
                                    .object = h.object,
                                    .metrics = (const char **)metrics,
                                    .count = count};
    struct profiler_host_config_size size = {.size = PROFILER_SIZE(profiler_host_config_size, bytes),
                                             .object = h.object};
    struct profiler_host_config config = {.size = PROFILER_SIZE(profiler_host_config, image),
                                          .object = h.object};
    struct profiler_host_passes passes = {.size = PROFILER_SIZE(profiler_host_passes, passes)};
    if (host->calls[ADD](&add) == 0 && host->calls[CONFIG_SIZE](&size) == 0) {
        config.bytes = passes.bytes = size.bytes;
        config.image = passes.image = mem_zalloc(size.bytes, 1);
        if (host->calls[CONFIG](&config) != 0 || host->calls[PASSES](&passes) != 0)
            passes.passes = 0;
        free(config.image);
    }
    struct profiler_host_object object = {.size = PROFILER_SIZE(profiler_host_object, object),
                                          .object = h.object};
    host->calls[DEINITIALIZE](&object);
    return passes.passes;
}

/* One unknown name spoils an addition: halves tell which it is. */
static void add_known(const struct host *host, struct counter_chip *chip, const char *const *metrics,
                      size_t count, const char **known, size_t *known_count)
{
    if (passes_of(host, chip->name, metrics, count) > 0) {
        memcpy(known + *known_count, metrics, count * sizeof *metrics);
        *known_count += count;
    } else if (count == 1) {
        vec_push(&chip->missing, metrics[0]);
    } else if (count > 1) {
        add_known(host, chip, metrics, count / 2, known, known_count);
        add_known(host, chip, metrics + count / 2, count - count / 2, known, known_count);
    }
}

/* Takes those that fit in one pass with what was taken, as the injected library does. */
static void take_what_fits(const struct host *host, const char *chip, const char *const *metrics,
                           size_t count, const char **taken, size_t *taken_count)
{
    memcpy(taken + *taken_count, metrics, count * sizeof *metrics);
    if (passes_of(host, chip, taken, *taken_count + count) == 1) {
        *taken_count += count;
    } else if (count > 1) {
        take_what_fits(host, chip, metrics, count / 2, taken, taken_count);
        take_what_fits(host, chip, metrics + count / 2, count - count / 2, taken, taken_count);
    }
}

static size_t count_that_fit(const struct host *host, const char *chip, const char *const *metrics,
                             size_t count)
{
    const char **taken = mem_zalloc(count, sizeof *taken);
    size_t fit = 0;
    take_what_fits(host, chip, metrics, count, taken, &fit);
    free(taken);
    return fit;
}

static bool plan_chip(const struct host *host, const char *name, const char *const *metrics, size_t count,
                      bool deep, struct counter_chip *chip)
{
    const char **known = mem_zalloc(count + counters_deep_count, sizeof *known);
    size_t known_count = 0;
    *chip = (struct counter_chip){0};
    snprintf(chip->name, sizeof chip->name, "%s", name);
    add_known(host, chip, metrics, count, known, &known_count);
    chip->quick_passes = passes_of(host, name, known, known_count);
    chip->quick_count = chip->quick_passes > 1 ? count_that_fit(host, name, known, known_count) : known_count;
    bool has_any = known_count > 0;
    if (has_any && deep) {
        add_known(host, chip, counters_deep, counters_deep_count, known, &known_count);
        chip->deep_passes = passes_of(host, name, known, known_count);
        chip->deep_count = known_count;
    }
    free(known);
    if (!has_any)
        vec_release(&chip->missing);
    return has_any;
}

int counter_plan_make(struct counter_plan *plan, const char *chip, char *const *metrics, size_t count,
                      struct err *err)
{
    struct host host = {0};
    struct profiler_host_chips chips = {.size = PROFILER_SIZE(profiler_host_chips, names)};
    *plan = (struct counter_plan){0};
    int rc = find_host(&host, &plan->library, err);
    if (rc < 0)
        return rc;
    rc = host.calls[CHIPS](&chips);
    if (rc != 0)
        return err_set(err, ERR_ENV, str_text(&plan->library), -1,
                       _("libnvperf_host.so must lie beside it: install nvidia-cuda-cupti whole"),
                       _("CUPTI cannot say which chips it knows (%d)"), rc);
    const char *const *wanted = count ? (const char *const *)metrics : counters_quick;
    for (size_t i = 0; i < chips.count; i++) {
        struct counter_chip planned;
        if ((!chip || strcasecmp(chip, chips.names[i]) == 0) &&
            plan_chip(&host, chips.names[i], wanted, count ? count : counters_quick_count, count == 0,
                      &planned))
            vec_push(&plan->chips, planned);
    }
    if (plan->chips.count)
        return 0;
    return err_set(err, ERR_USAGE, NULL, -1, _("'warplight kernels --plan' lists the chips"),
                   chip ? _("CUPTI knows no chip '%s' with these metrics") : _("no chip has these metrics"),
                   chip);
}

void counter_plan_release(struct counter_plan *plan)
{
    vec_each (&plan->chips, chip)
        vec_release(&chip->missing);
    vec_release(&plan->chips);
    str_release(&plan->library);
}
