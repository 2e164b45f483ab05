#include "import/profiles.h"

#include <math.h>
#include <string.h>

#include "base/i18n.h"
#include "base/json.h"
#include "import/unit.h"

void profiles_begin(struct profiles *p, struct run *run, uint32_t source)
{
    *p = (struct profiles){.run = run, .source = source, .first = (uint32_t)run->profiles.count};
}

uint32_t profiles_add(struct profiles *p, const char *name, size_t length)
{
    struct run *run = p->run;
    uint32_t row = (uint32_t)run->profiles.count;
    *vec_new(&run->profiles) = (struct kernel_profile){.source = p->source,
                                                       .device = NONE,
                                                       .process = NONE,
                                                       .name = intern_add(&run->strings, name, length),
                                                       .shape = NONE,
                                                       .code = NONE,
                                                       .image = NONE,
                                                       .launch = UNKNOWN,
                                                       .launches = 1};
    *vec_new(&p->drafts) = (struct draft){.shape = {.occupancy_percent = -1}};
    return row;
}

struct draft *profiles_draft(struct profiles *p, uint32_t profile)
{
    return &p->drafts.at[profile - p->first];
}

void profiles_set_device(struct profiles *p, uint32_t profile, int64_t id)
{
    uint32_t device = run_device(p->run, p->source, id);
    p->run->devices.at[device].vendor = VENDOR_NVIDIA;
    p->run->profiles.at[profile].device = device;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

bool profiles_read_dim(const char *text, size_t length, uint32_t dim[3])
{
    const char *at = text, *end = text + length;
    for (int i = 0; i < 3; i++) {
        while (at < end && !is_digit(*at))
            if (!strchr("( ,xX", *at++))
                return false;
        uint64_t value = 0;
        const char *digits = at;
        for (; at < end && is_digit(*at) && value <= UINT32_MAX; at++)
            value = value * 10 + (uint64_t)(*at - '0');
        if (at == digits || value > UINT32_MAX)
            return false;
        dim[i] = (uint32_t)value;
    }
    return true;
}

/* A device of its own where the source numbers none. */
static struct device *device_of(struct profiles *p, uint32_t profile)
{
    if (p->run->profiles.at[profile].device == NONE)
        profiles_set_device(p, profile, 0);
    return &p->run->devices.at[p->run->profiles.at[profile].device];
}

void profiles_set_cc(struct profiles *p, uint32_t profile, const char *text, size_t length)
{
    const char *point = memchr(text, '.', length);
    uint64_t major, minor;
    if (!point || !json_to_uint((struct json_text){text, (size_t)(point - text)}, &major) ||
        !json_to_uint((struct json_text){point + 1, length - (size_t)(point - text) - 1}, &minor) ||
        major > 99 || minor > 99)
        return;
    struct device *device = device_of(p, profile);
    device->cc_major = (int32_t)major;
    device->cc_minor = (int32_t)minor;
}

/* ---- what counters say of launch and device ------------------------------------------------------------ */

enum fact_of { OF_SHAPE, OF_BLOCK_SIZE, OF_GRID_SIZE, OF_DEVICE32, OF_DEVICE64 };

struct fact_place {
    const char *name;
    enum fact_of of;
    size_t offset;
    double scale;
};

#define SHAPE(field)        OF_SHAPE, offsetof(struct shape, field), 1
#define DEVICE32(field)     OF_DEVICE32, offsetof(struct device, field), 1
#define DEVICE64(field, by) OF_DEVICE64, offsetof(struct device, field), by
#define ATTRIBUTE           "device__attribute_"

static const struct fact_place facts[] = {
    {"launch__grid_dim_x", SHAPE(grid[0])},
    {"launch__grid_dim_y", SHAPE(grid[1])},
    {"launch__grid_dim_z", SHAPE(grid[2])},
    {"launch__block_dim_x", SHAPE(block[0])},
    {"launch__block_dim_y", SHAPE(block[1])},
    {"launch__block_dim_z", SHAPE(block[2])},
    {"launch__cluster_dim_x", SHAPE(cluster[0])},
    {"launch__cluster_dim_y", SHAPE(cluster[1])},
    {"launch__cluster_dim_z", SHAPE(cluster[2])},
    {"launch__grid_size", OF_GRID_SIZE, 0, 1},
    {"launch__block_size", OF_BLOCK_SIZE, 0, 1},
    {"launch__registers_per_thread", SHAPE(regs_per_thread)},
    {"launch__shared_mem_per_block_static", SHAPE(shared_static_bytes)},
    {"launch__shared_mem_per_block_dynamic", SHAPE(shared_dynamic_bytes)},
    {"launch__sm_count", DEVICE32(sm_count)},
    {"Launch Statistics/Registers Per Thread", SHAPE(regs_per_thread)},
    {"Launch Statistics/Static Shared Memory Per Block", SHAPE(shared_static_bytes)},
    {"Launch Statistics/Dynamic Shared Memory Per Block", SHAPE(shared_dynamic_bytes)},
    {"Launch Statistics/# SMs", DEVICE32(sm_count)},
    {ATTRIBUTE "compute_capability_major", DEVICE32(cc_major)},
    {ATTRIBUTE "compute_capability_minor", DEVICE32(cc_minor)},
    {ATTRIBUTE "multiprocessor_count", DEVICE32(sm_count)},
    {ATTRIBUTE "warp_size", DEVICE32(warp_size)},
    {ATTRIBUTE "max_threads_per_multiprocessor", DEVICE32(max_threads_per_sm)},
    {ATTRIBUTE "max_blocks_per_multiprocessor", DEVICE32(max_blocks_per_sm)},
    {ATTRIBUTE "max_warps_per_multiprocessor", DEVICE32(max_warps_per_sm)},
    {ATTRIBUTE "max_registers_per_multiprocessor", DEVICE32(regs_per_sm)},
    {ATTRIBUTE "max_shared_memory_per_multiprocessor", DEVICE64(shared_bytes_per_sm, 1)},
    {ATTRIBUTE "max_shared_memory_per_block_optin", DEVICE64(shared_bytes_per_block_optin, 1)},
    {ATTRIBUTE "total_memory", DEVICE64(memory_bytes, 1)},
    {ATTRIBUTE "l2_cache_size", DEVICE64(l2_bytes, 1)},
    {ATTRIBUTE "max_gpu_frequency_khz", DEVICE64(clock_hz, 1e3)},
};

enum { FACTS = sizeof facts / sizeof *facts };

/* The fact that a counter of this name tells, or NULL. */
static const struct fact_place *fact_of(struct profiles *p, uint32_t name)
{
    uint32_t known = map_get(&p->names, name);
    if (known == MAP_ABSENT) {
        known = FACTS;
        for (uint32_t i = 0; i < FACTS; i++)
            if (strcmp(facts[i].name, run_text(p->run, name)) == 0)
                known = i;
        map_set(&p->names, name, known);
    }
    return known < FACTS ? &facts[known] : NULL;
}

static bool fits(const struct fact_place *fact, double value)
{
    double max = fact->of == OF_SHAPE ? UINT32_MAX : fact->of == OF_DEVICE32 ? INT32_MAX : 9e15;
    return value >= 0 && value <= max;
}

static void store_device_fact(struct device *device, const struct fact_place *fact, double value)
{
    char *at = (char *)device + fact->offset;
    if (fact->of == OF_DEVICE32)
        memcpy(at, &(int32_t){(int32_t)value}, sizeof(int32_t));
    else if (fact->of == OF_DEVICE64)
        memcpy(at, &(int64_t){(int64_t)value}, sizeof(int64_t));
}

static void store_fact(struct profiles *p, uint32_t profile, const struct fact_place *fact, double value)
{
    struct draft *draft = profiles_draft(p, profile);
    value *= fact->scale;
    if (!fits(fact, value))
        return;
    switch (fact->of) {
    case OF_SHAPE:
        memcpy((char *)&draft->shape + fact->offset, &(uint32_t){(uint32_t)(value + 0.5)}, sizeof(uint32_t));
        draft->has_shape = true;
        break;
    case OF_BLOCK_SIZE:
        draft->block_size = value;
        break;
    case OF_GRID_SIZE:
        draft->grid_size = value;
        break;
    case OF_DEVICE32:
    case OF_DEVICE64:
        store_device_fact(device_of(p, profile), fact, value);
        break;
    }
}

void profiles_device_value(struct profiles *p, uint32_t device, const char *name, double value)
{
    const struct fact_place *fact = fact_of(p, intern_puts(&p->run->strings, name));
    if (fact && fits(fact, value * fact->scale))
        store_device_fact(&p->run->devices.at[device], fact, value * fact->scale);
}

void profiles_text(struct profiles *p, uint32_t profile, uint32_t name, const char *text, size_t length)
{
    if (strcmp(run_text(p->run, name), ATTRIBUTE "display_name") == 0)
        device_of(p, profile)->name = intern_add(&p->run->strings, text, length);
}

/* ---- counters ------------------------------------------------------------------------------------------ */

static bool claim(struct profiles *p, uint32_t profile, uint32_t name)
{
    uint64_t key = (uint64_t)profile << 32 | name;
    if (map_get(&p->counters, key) != MAP_ABSENT)
        return false;
    map_set(&p->counters, key, 1);
    return true;
}

static void add_counter(struct profiles *p, uint32_t profile, uint32_t name, uint32_t unit, double value,
                        enum counter_state state)
{
    if (!claim(p, profile, name))
        return;
    struct counter_table *counters = &p->run->counters;
    size_t row = counter_table_add(counters);
    counters->profile[row] = profile;
    counters->name[row] = name;
    counters->unit[row] = unit;
    counters->value[row] = value;
    counters->state[row] = (uint8_t)state;
}

void profiles_value(struct profiles *p, uint32_t profile, uint32_t name, const char *unit, size_t unit_length,
                    double value)
{
    char base[UNIT_TEXT_BYTES];
    value *= unit_to_base(unit, unit_length, base);
    const struct fact_place *fact = fact_of(p, name);
    if (fact)
        store_fact(p, profile, fact, value);
    add_counter(p, profile, name, intern_puts(&p->run->strings, base), value,
                isfinite(value) ? COUNTER_VALUE : COUNTER_IMPLAUSIBLE);
}

void profiles_no_value(struct profiles *p, uint32_t profile, uint32_t name, enum counter_state state)
{
    add_counter(p, profile, name, 0, 0, state);
}

/* ---- places -------------------------------------------------------------------------------------------- */

uint32_t profiles_new_place(struct profiles *p)
{
    struct place_table *places = &p->run->places;
    size_t row = place_table_add(places);
    places->code[row] = places->image[row] = places->inlined[row] = NONE;
    places->pc[row] = UINT64_MAX;
    return (uint32_t)row;
}

uint32_t profiles_place(struct profiles *p, uint32_t function, uint64_t pc, uint32_t file, uint32_t line)
{
    struct place_table *places = &p->run->places;
    uint64_t key = hash_pair(hash_pair(function, pc), hash_pair(file, line));
    for (;; key++) {
        uint32_t row = map_get(&p->places, key);
        if (row == MAP_ABSENT)
            break;
        if (places->function[row] == function && places->pc[row] == pc && places->file[row] == file &&
            places->line[row] == line)
            return row;
    }
    uint32_t row = profiles_new_place(p);
    map_set(&p->places, key, row);
    places->function[row] = function;
    places->pc[row] = pc;
    places->file[row] = file;
    places->line[row] = line;
    return row;
}

void profiles_place_value(struct profiles *p, uint32_t profile, uint32_t place, uint32_t name, double value)
{
    struct place_counter_table *counters = &p->run->place_counters;
    size_t row = place_counter_table_add(counters);
    counters->profile[row] = profile;
    counters->place[row] = place;
    counters->name[row] = name;
    counters->value[row] = value;
}

/* ---- the end ------------------------------------------------------------------------------------------- */

static double product(const uint32_t dim[3])
{
    return (double)dim[0] * dim[1] * dim[2];
}

/* Some prints have grid and block the wrong way round; the driver's own counts tell. */
static void settle_shape(struct profiles *p, uint32_t profile)
{
    struct draft *d = profiles_draft(p, profile);
    struct shape *shape = &d->shape;
    if (d->block_size > 0 && d->grid_size > 0 && d->block_size != d->grid_size &&
        product(shape->block) == d->grid_size && product(shape->grid) == d->block_size) {
        for (int i = 0; i < 3; i++) {
            uint32_t swap = shape->grid[i];
            shape->grid[i] = shape->block[i];
            shape->block[i] = swap;
        }
        run_repair(p->run, p->source,
                   N_("grid and block stood in each other's place, as the counts of the driver show"), 1, -1);
    }
    if (product(shape->block) == 0 && d->block_size >= 1 && d->block_size <= 1024) {
        shape->block[0] = (uint32_t)d->block_size;
        shape->block[1] = shape->block[2] = 1;
        d->has_shape = true;
    }
    if (product(shape->grid) == 0 && d->grid_size >= 1 && d->grid_size <= UINT32_MAX) {
        shape->grid[0] = (uint32_t)d->grid_size;
        shape->grid[1] = shape->grid[2] = 1;
        d->has_shape = true;
    }
    if (d->has_shape)
        p->run->profiles.at[profile].shape = run_shape(p->run, shape);
}

void profiles_end(struct profiles *p)
{
    for (uint32_t i = 0; i < p->drafts.count; i++)
        settle_shape(p, p->first + i);
    vec_release(&p->drafts);
    map_release(&p->names);
    map_release(&p->counters);
    map_release(&p->places);
}
