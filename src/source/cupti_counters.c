#include "source/cupti_counters.h"

#include <math.h>
#include <string.h>

#include "base/i18n.h"
#include "model/counter_unit.h"
#include "source/kept_code.h"

/* Beyond, it is not a count: sums must not overflow. */
static const uint64_t most_samples = UINT64_C(1) << 48;

/* ---- launches -------------------------------------------------------------------------------------------
 */

/* Everything but its number. */
static struct kernel_profile describe(const struct cupti_texts *texts, struct run *run, uint32_t source,
                                      uint32_t process, const struct ring_launch *launch)
{
    struct shape shape = {.regs_per_thread = launch->registers_per_thread,
                          .shared_static_bytes = launch->static_shared_bytes,
                          .shared_dynamic_bytes = launch->dynamic_shared_bytes,
                          .local_bytes_per_thread = launch->local_bytes_per_thread,
                          .occupancy_percent = -1};
    memcpy(shape.grid, launch->grid, sizeof shape.grid);
    memcpy(shape.block, launch->block, sizeof shape.block);
    bool is_graph = launch->flags & RING_LAUNCH_GRAPH;
    return (struct kernel_profile){
        .source = source,
        .device = run_device(run, source, launch->device),
        .process = process,
        .name = cupti_texts_hashed(texts, launch->name, run, "(name lost)"),
        .shape = is_graph ? NONE : run_shape(run, &shape),
        .graph_kernels = is_graph ? launch->kernels : 0,
        .code = NONE,
        .image = NONE,
        .launches = 1,
    };
}

void cupti_counters_launch(struct cupti_counters *c, const struct cupti_texts *texts, struct run *run,
                           uint32_t source, uint32_t process, const struct ring_launch *launch)
{
    if (launch->flags & RING_LAUNCH_TOTAL) {
        vec_push(&c->totals, *launch);
        return;
    }
    struct kernel_profile profile = describe(texts, run, source, process, launch);
    profile.launch = launch->number;
    profile.measured = 1;
    vec_push(&run->profiles, profile);
    c->profile = (uint32_t)run->profiles.count;
}

static uint64_t key_of(const struct kernel_profile *p)
{
    return hash_pair(hash_pair(p->name, p->shape), hash_pair(p->device, p->process));
}

/* Both are at least 0; the target can write anything. */
static void add_capped(int64_t *sum, int64_t more)
{
    static const int64_t most = INT64_C(1) << 50;
    *sum = more > most - *sum ? most : *sum + more;
}

/* Row of the totals of each kernel; the same in another context, say, is added up. */
static struct map index_totals(struct cupti_counters *c, const struct cupti_texts *texts, struct run *run,
                               uint32_t source, uint32_t process)
{
    struct map total_of = {0};
    for (uint32_t i = 0; i < c->totals.count; i++) {
        struct ring_launch *total = &c->totals.at[i];
        if (total->number < 0 || total->number > INT32_MAX)
            total->number = 0; /* it is not sane */
        if (total->flags & (RING_LAUNCH_OTHERS | RING_LAUNCH_MISSED))
            continue; /* of no one kernel */
        struct kernel_profile kernel = describe(texts, run, source, process, total);
        uint32_t before = map_get(&total_of, key_of(&kernel));
        if (before == MAP_ABSENT)
            map_set(&total_of, key_of(&kernel), i);
        else
            add_capped(&c->totals.at[before].number, total->number);
        if (before != MAP_ABSENT)
            total->number = 0;
    }
    return total_of;
}

/* What was not measured one by one, and why. */
static void say_totals(const struct cupti_counters *c, struct run *run, uint32_t source,
                       const uint32_t *measured)
{
    enum { MOST_IN_GRAPH = 1 << 20 };
    int64_t in_graphs = 0, in_unmeasured = 0, graphs_of_unknown = 0, alone = 0, others = 0, missed = 0;
    for (uint32_t i = 0; i < c->totals.count; i++) {
        const struct ring_launch *total = &c->totals.at[i];
        bool is_graph = total->flags & RING_LAUNCH_GRAPH;
        int64_t kernels = total->kernels <= MOST_IN_GRAPH && total->number <= INT32_MAX ? total->kernels : 0;
        if (total->flags & RING_LAUNCH_OTHERS)
            add_capped(&others, total->number);
        else if (total->flags & RING_LAUNCH_MISSED)
            add_capped(&missed, total->number);
        else if (!is_graph && total->flags & RING_LAUNCH_ALONE)
            add_capped(&alone, total->number);
        else if (is_graph && kernels == 0)
            add_capped(&graphs_of_unknown, total->number);
        else if (is_graph)
            add_capped(measured[i] ? &in_graphs : &in_unmeasured, total->number * kernels);
    }
    const struct {
        int64_t count;
        const char *text;
    } notes[] = {
        {in_graphs,
         N_("kernels launched by CUDA graphs were measured as their graph, not one by one (to see each, run "
            "without graphs: torch.compile without reduce-overhead, vllm --enforce-eager, "
            "GGML_CUDA_DISABLE_GRAPHS=1)")},
        {in_unmeasured,
         N_("kernels launched by CUDA graphs were not measured: their graphs wait for other GPUs, or "
            "there are too many (run without graphs, or with --launches 0)")},
        {graphs_of_unknown, N_("launches of CUDA graphs whose kernels could not be counted")},
        {alone,
         N_("launches of kernels that wait for other GPUs were not measured: one that runs alone never ends "
            "('warplight record' times them)")},
        {others,
         N_("launches were not measured: the program has too many different kernels (each grid and block "
            "counts as one)")},
        {missed, N_("launches of kernels were not measured: another process or context had the counters each "
                    "time that they came")},
    };
    for (size_t i = 0; i < sizeof notes / sizeof *notes; i++)
        if (notes[i].count > 0)
            run_repair(run, source, notes[i].text, notes[i].count, -1);
}

void cupti_counters_settle(struct cupti_counters *c, const struct cupti_texts *texts, struct run *run,
                           uint32_t source, uint32_t process)
{
    struct map total_of = index_totals(c, texts, run, source, process); /* kernel → row of totals */
    uint32_t *measured = mem_zalloc(c->totals.count, sizeof *measured);
    vec_each (&run->profiles, profile) {
        uint32_t total = map_get(&total_of, key_of(profile));
        if (total != MAP_ABSENT)
            measured[total]++;
    }
    say_totals(c, run, source, measured);
    vec_each (&run->profiles, profile) {
        uint32_t row = map_get(&total_of, key_of(profile));
        struct ring_launch *total = row == MAP_ABSENT ? NULL : &c->totals.at[row];
        if (!total || total->number < measured[row])
            continue;
        profile->launches = (total->number + measured[row] - 1) / measured[row];
        total->number -= profile->launches;
        measured[row]--;
    }
    map_release(&total_of);
    free(measured);
    c->totals.count = 0;
}

static void add_counter(struct run *run, uint32_t profile, uint32_t name, double value)
{
    size_t row = counter_table_add(&run->counters);
    run->counters.profile[row] = profile;
    run->counters.name[row] = name;
    run->counters.unit[row] = intern_puts(&run->strings, counter_unit(run_text(run, name)));
    /* A share of nothing is not a number. */
    run->counters.state[row] = isfinite(value) ? COUNTER_VALUE : COUNTER_UNDEFINED;
    run->counters.value[row] = isfinite(value) ? value : 0;
}

bool cupti_counters_values(struct cupti_counters *c, const struct cupti_texts *texts, struct run *run,
                           const struct ring_counters *values)
{
    if (c->profile == 0 || run->profiles.at[c->profile - 1].launch != values->number ||
        values->count > RING_COUNTERS_AT_ONCE)
        return false;
    for (uint32_t i = 0; i < values->count; i++)
        add_counter(run, c->profile - 1, cupti_texts_hashed(texts, values->at[i].name, run, "(name lost)"),
                    values->at[i].value);
    return true;
}

/* ---- samples --------------------------------------------------------------------------------------------
 */

static uint32_t find_place(struct cupti_counters *c, struct run *run, uint32_t source, uint32_t function,
                           const struct ring_pc *pc)
{
    uint64_t key = hash_pair(hash_pair(pc->cubin, pc->pc), function);
    uint32_t found = map_get(&c->places, key);
    if (found != MAP_ABSENT)
        return found;
    size_t row = place_table_add(&run->places);
    run->places.code[row] = run->places.inlined[row] = NONE;
    run->places.image[row] = kept_code_image(run, source, pc->cubin);
    run->places.function[row] = function;
    run->places.pc[row] = pc->pc;
    map_set(&c->places, key, (uint32_t)row);
    return (uint32_t)row;
}

bool cupti_counters_samples(struct cupti_counters *c, const struct cupti_texts *texts, struct run *run,
                            uint32_t source, const struct ring_pc *pc)
{
    if (pc->count > RING_PC_AT_ONCE)
        return false;
    uint32_t place =
        find_place(c, run, source, cupti_texts_hashed(texts, pc->function, run, "(name lost)"), pc);
    for (uint32_t i = 0; i < pc->count; i++) {
        uint32_t name = cupti_texts_hashed(texts, pc->at[i].name, run, "(name lost)");
        uint64_t key = (uint64_t)place << 32 | name;
        uint32_t row = map_get(&c->samples, key);
        if (row == MAP_ABSENT) {
            row = (uint32_t)place_counter_table_add(&run->place_counters);
            run->place_counters.profile[row] = NONE;
            run->place_counters.place[row] = place;
            run->place_counters.name[row] = name;
            map_set(&c->samples, key, row);
        }
        run->place_counters.value[row] += (double)(pc->at[i].samples < most_samples ? pc->at[i].samples : 0);
    }
    return true;
}

void cupti_counters_release(struct cupti_counters *c)
{
    map_release(&c->places);
    map_release(&c->samples);
    vec_release(&c->totals);
}

/* ---- when everything is there ---------------------------------------------------------------------------
 */

static uint32_t *count_counters(const struct run *run)
{
    uint32_t *counters = mem_zalloc(run->profiles.count, sizeof *counters);
    for (size_t row = 0; row < run->counters.count; row++)
        counters[run->counters.profile[row]]++;
    return counters;
}

void counters_prefer_unreplayed(struct run *run)
{
    struct map fewest = {0}, plain = {0}; /* kernel → its fewest counters; kernel and name → row */
    uint32_t *counters = count_counters(run);
    for (uint32_t i = 0; i < run->profiles.count; i++) {
        uint32_t before = map_get(&fewest, key_of(&run->profiles.at[i]));
        if (before == MAP_ABSENT || counters[i] < before)
            map_set(&fewest, key_of(&run->profiles.at[i]), counters[i]);
    }
    for (size_t row = 0; row < run->counters.count; row++) {
        uint32_t profile = run->counters.profile[row];
        uint64_t key = key_of(&run->profiles.at[profile]);
        if (counters[profile] == map_get(&fewest, key))
            map_set(&plain, hash_pair(key, run->counters.name[row]), (uint32_t)row);
    }
    for (size_t row = 0; row < run->counters.count; row++) {
        uint64_t key =
            hash_pair(key_of(&run->profiles.at[run->counters.profile[row]]), run->counters.name[row]);
        uint32_t better = map_get(&plain, key);
        if (better != MAP_ABSENT &&
            counters[run->counters.profile[row]] > counters[run->counters.profile[better]]) {
            run->counters.value[row] = run->counters.value[better];
            run->counters.state[row] = run->counters.state[better];
        }
    }
    map_release(&fewest);
    map_release(&plain);
    free(counters);
}

/* The launch of each function with the most counters: name → profile. */
static void choose_profiles(const struct run *run, struct map *chosen)
{
    uint32_t *counters = count_counters(run);
    for (uint32_t i = 0; i < run->profiles.count; i++) {
        uint32_t before = map_get(chosen, run->profiles.at[i].name);
        if (before == MAP_ABSENT || counters[i] > counters[before])
            map_set(chosen, run->profiles.at[i].name, i);
    }
    free(counters);
}

/* A launch of which nothing is known but that it was sampled. */
static uint32_t add_unmeasured(struct run *run, uint32_t function)
{
    vec_push(&run->profiles, ((struct kernel_profile){.source = (uint32_t)run->sources.count - 1,
                                                      .device = NONE,
                                                      .process = NONE,
                                                      .name = function,
                                                      .shape = NONE,
                                                      .code = NONE,
                                                      .image = NONE,
                                                      .launch = UNKNOWN,
                                                      .launches = 1}));
    return (uint32_t)run->profiles.count - 1;
}

void counters_assign_samples(struct run *run)
{
    struct map chosen = {0}, sums = {0};
    choose_profiles(run, &chosen);
    for (size_t row = 0; row < run->place_counters.count; row++) {
        uint32_t function = run->places.function[run->place_counters.place[row]];
        uint32_t profile = map_get(&chosen, function), name = run->place_counters.name[row];
        if (run->place_counters.profile[row] != NONE)
            continue;
        if (profile == MAP_ABSENT) {
            profile = add_unmeasured(run, function);
            map_set(&chosen, function, profile);
        }
        run->place_counters.profile[row] = profile;
        uint64_t key = (uint64_t)profile << 32 | name;
        uint32_t sum = map_get(&sums, key);
        if (sum == MAP_ABSENT) {
            sum = (uint32_t)run->counters.count;
            add_counter(run, profile, name, 0);
            map_set(&sums, key, sum);
        }
        run->counters.value[sum] += run->place_counters.value[row];
    }
    map_release(&chosen);
    map_release(&sums);
}
