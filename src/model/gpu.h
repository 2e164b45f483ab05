/* What is known about a GPU as a piece of hardware: what it is (struct gpu_facts) and how it is at a moment
 * (struct gpu_sample). Back ends fill them; recordings keep them as facts of the run.
 *
 * Every number is a struct reading in the unit that its table row names. The tables are the one place that
 * knows the fields: who prints, writes or checks them walks over a table. */
#ifndef WARPLIGHT_MODEL_GPU_H
#define WARPLIGHT_MODEL_GPU_H

#include <stddef.h>

#include "base/str.h"
#include "model/reading.h"
#include "model/run.h"

enum gpu_unit {
    GPU_COUNT, /* a plain number */
    GPU_HZ,
    GPU_MILLIWATTS,  /* as text: watts */
    GPU_MILLIJOULES, /* as text: joules */
    GPU_BYTES,
    GPU_CELSIUS,
    GPU_NS,
    GPU_PERCENT,    /* as text: a ratio */
    GPU_PERMILLE,   /* as text: a ratio */
    GPU_HUNDREDTHS, /* as text: "0.25" */
    GPU_BYTES_PER_S,
    GPU_TENTHS,       /* as text: "9.0" */
    GPU_SWITCH,       /* "on", "off" */
    GPU_COMPUTE_MODE, /* "default", "prohibited", … */
    GPU_REASONS,      /* mask of enum gpu_clock_reason: "power-cap,thermal" */
    GPU_LINK,         /* mask of enum gpu_link: "slow,narrow" */
    GPU_RECOVERY,     /* what the driver asks for: "none", "reset-gpu", … */
    GPU_VIRTUAL,      /* "none", "pass-through", "vgpu", … */
    GPU_SHARING,      /* mask of enum gpu_sharing: "mig,mps" */
};

/* X(field, key, unit, title). The key is part of the names of facts (doc/internals/recording.md). */
#define GPU_FACT_FIELDS(X)                                                                                   \
    X(compute_capability, "compute_capability", GPU_TENTHS, N_("compute capability"))                        \
    X(memory, "memory_bytes", GPU_BYTES, N_("memory"))                                                       \
    X(sm_clock_max, "sm_clock_max_hz", GPU_HZ, N_("highest SM clock"))                                       \
    X(memory_clock_max, "memory_clock_max_hz", GPU_HZ, N_("highest memory clock"))                           \
    X(power_limit_min, "power_limit_min_watts", GPU_MILLIWATTS, N_("lowest power limit"))                    \
    X(power_limit_max, "power_limit_max_watts", GPU_MILLIWATTS, N_("highest power limit"))                   \
    X(power_limit_default, "power_limit_default_watts", GPU_MILLIWATTS, N_("default power limit"))           \
    X(slowdown_temperature, "slowdown_celsius", GPU_CELSIUS, N_("slows down at"))                            \
    X(shutdown_temperature, "shutdown_celsius", GPU_CELSIUS, N_("shuts down at"))                            \
    X(pcie_generation_max, "pcie_generation_max", GPU_COUNT, N_("highest PCIe generation"))                  \
    X(pcie_width_max, "pcie_width_max", GPU_COUNT, N_("highest PCIe width"))                                 \
    X(mig, "mig_mode", GPU_SWITCH, N_("MIG mode"))                                                           \
    X(persistence, "persistence_mode", GPU_SWITCH, N_("persistence mode"))                                   \
    X(ecc, "ecc_mode", GPU_SWITCH, N_("ECC"))                                                                \
    X(compute_mode, "compute_mode", GPU_COMPUTE_MODE, N_("compute mode"))                                    \
    X(virtualization, "virtualization", GPU_VIRTUAL, N_("virtualization"))

/* X(field, key, unit, kind, title). GPU_LEVEL: what it is at the moment. GPU_TOTAL: a counter that grows from
 * when the driver was loaded; its gain is what counts. */
#define GPU_SAMPLE_FIELDS(X)                                                                                 \
    X(sm_clock, "sm_clock_hz", GPU_HZ, GPU_LEVEL, N_("SM clock"))                                            \
    X(memory_clock, "memory_clock_hz", GPU_HZ, GPU_LEVEL, N_("memory clock"))                                \
    X(clock_reasons, "clock_event_reasons", GPU_REASONS, GPU_LEVEL, N_("what holds the clocks"))             \
    X(power, "power_watts", GPU_MILLIWATTS, GPU_LEVEL, N_("power"))                                          \
    X(power_limit, "power_limit_watts", GPU_MILLIWATTS, GPU_LEVEL, N_("power limit in force"))               \
    X(temperature, "temperature_celsius", GPU_CELSIUS, GPU_LEVEL, N_("GPU temperature"))                     \
    X(memory_temperature, "memory_temperature_celsius", GPU_CELSIUS, GPU_LEVEL, N_("memory temperature"))    \
    X(utilization, "gpu_utilization_ratio", GPU_PERCENT, GPU_LEVEL, N_("time with a kernel running"))        \
    X(memory_utilization, "memory_utilization_ratio", GPU_PERCENT, GPU_LEVEL,                                \
      N_("time with memory traffic"))                                                                        \
    X(memory_used, "memory_used_bytes", GPU_BYTES, GPU_LEVEL, N_("memory used"))                             \
    X(pcie_generation, "pcie_generation", GPU_COUNT, GPU_LEVEL, N_("PCIe generation"))                       \
    X(pcie_width, "pcie_width", GPU_COUNT, GPU_LEVEL, N_("PCIe width"))                                      \
    X(performance_state, "performance_state", GPU_COUNT, GPU_LEVEL, N_("performance state (P…)"))            \
    X(ecc_uncorrected, "ecc_uncorrected_count", GPU_COUNT, GPU_LEVEL, N_("uncorrected ECC errors"))          \
    X(remapped_uncorrectable, "remapped_rows_uncorrectable_count", GPU_COUNT, GPU_LEVEL,                     \
      N_("remapped memory rows"))                                                                            \
    X(remap_pending, "row_remap_pending", GPU_SWITCH, GPU_LEVEL, N_("remapping waits for reset"))            \
    X(remap_failed, "row_remap_failed", GPU_SWITCH, GPU_LEVEL, N_("remapping failed"))                       \
    X(energy, "energy_joules", GPU_MILLIJOULES, GPU_TOTAL, N_("energy"))                                     \
    X(power_cap_time, "power_cap_ns", GPU_NS, GPU_TOTAL, N_("clocks held by power limit"))                   \
    X(software_thermal_time, "software_thermal_ns", GPU_NS, GPU_TOTAL, N_("clocks held by heat (driver)"))   \
    X(hardware_thermal_time, "hardware_thermal_ns", GPU_NS, GPU_TOTAL, N_("clocks held by heat (chip)"))     \
    X(thermal_time, "thermal_ns", GPU_NS, GPU_TOTAL, N_("clocks held by heat"))                              \
    X(power_brake_time, "power_brake_ns", GPU_NS, GPU_TOTAL, N_("clocks held by power brake"))               \
    X(sync_boost_time, "sync_boost_ns", GPU_NS, GPU_TOTAL, N_("clocks held by boost group"))

/* PCI ids of the vendors. */
enum { PCI_NVIDIA = 0x10de, PCI_AMD = 0x1002, PCI_INTEL = 0x8086 };

enum { GPU_NAME_BYTES = 96, GPU_UUID_BYTES = 96, GPU_BUS_BYTES = 32, GPU_VBIOS_BYTES = 32 };

/* Texts are "" where they are not known. */
struct gpu_facts {
    char uuid[GPU_UUID_BYTES]; /* "GPU-…", as the driver spells it */
    char name[GPU_NAME_BYTES];
    char bus[GPU_BUS_BYTES]; /* PCI address: "0000:3b:00.0" */
    char vbios[GPU_VBIOS_BYTES];
#define GPU_READING(field, ...) struct reading field;
    GPU_FACT_FIELDS(GPU_READING)
};

struct gpu_sample {
    int64_t time_ns; /* CLOCK_REALTIME, before the first of its calls */
    GPU_SAMPLE_FIELDS(GPU_READING)
#undef GPU_READING
};

enum gpu_field_kind { GPU_LEVEL, GPU_TOTAL };

struct gpu_field {
    const char *key, *title; /* title: a msgid */
    enum gpu_unit unit;
    enum gpu_field_kind kind;
    size_t offset; /* of the struct reading */
};

/* Tables that end with a row without key. */
extern const struct gpu_field gpu_fact_fields[], gpu_sample_fields[];

static inline struct reading *gpu_reading(void *facts_or_sample, const struct gpu_field *field)
{
    return (struct reading *)((char *)facts_or_sample + field->offset);
}
static inline struct reading gpu_get(const void *facts_or_sample, const struct gpu_field *field)
{
    return *(const struct reading *)((const char *)facts_or_sample + field->offset);
}

/* Marks known readings that no GPU can have (40000 °C, 300 %) as implausible. */
void gpu_check(void *facts_or_sample, const struct gpu_field *fields);
/* Marks everything that nobody looked at with why. */
void gpu_missing(void *facts_or_sample, const struct gpu_field *fields, enum reading_state why);

/* Appends a known value as machines read it: no locale, the unit of the field's key. */
void gpu_value_add(struct str *out, enum gpu_unit unit, int64_t value);
/* Reads a number back: watts and joules with up to three decimals, ratios with two. False for what is none,
 * and for units that are written as names. */
bool gpu_value_parse(enum gpu_unit unit, const char *text, int64_t *value);

/* The fact "gpu.UUID.KEY" of a recording, NULL where it has none. */
const char *gpu_fact(const struct run *run, const char *uuid, const char *key);
/* The same as a number. Not looked at where there is no fact; else the reason that the recording gives. */
struct reading gpu_fact_reading(const struct run *run, const char *uuid, const char *key, enum gpu_unit unit);

/* What holds the clocks down, as NVML's clock event reasons number them. */
enum gpu_clock_reason {
    GPU_CLOCK_IDLE = 1 << 0,
    GPU_CLOCK_SETTING = 1 << 1, /* the clocks that somebody set */
    GPU_CLOCK_POWER_CAP = 1 << 2,
    GPU_CLOCK_HARDWARE_SLOWDOWN = 1 << 3, /* one of the two hardware reasons below, or an older GPU */
    GPU_CLOCK_SYNC_BOOST = 1 << 4,
    GPU_CLOCK_SOFTWARE_THERMAL = 1 << 5,
    GPU_CLOCK_HARDWARE_THERMAL = 1 << 6,
    GPU_CLOCK_POWER_BRAKE = 1 << 7,
    GPU_CLOCK_DISPLAY = 1 << 8,
};

/* What is wrong with a link, judged while it is used: one without traffic may lower its speed to save power.
 * No bit: it is good. */
enum gpu_link {
    GPU_LINK_UNUSED = 1 << 0,   /* too little traffic to judge */
    GPU_LINK_SLOW = 1 << 1,     /* of a lower generation than GPU and slot can both do */
    GPU_LINK_NARROW = 1 << 2,   /* with fewer lanes */
    GPU_LINK_REPLAYS = 1 << 3,  /* packets are sent again, more often than the vendor allows */
    GPU_LINK_ERRORS = 1 << 4,   /* errors within the last minute */
    GPU_LINK_INACTIVE = 1 << 5, /* some of the links are down while others carry traffic */
};

/* Who else gets a part of the GPU, or keeps a part of it from us. */
enum gpu_sharing {
    GPU_SHARED_MIG = 1 << 0,
    GPU_SHARED_MPS = 1 << 1,       /* clients of the multi-process service use it */
    GPU_SHARED_VGPU = 1 << 2,      /* this is a virtual GPU, of a part of a board */
    GPU_SHARED_VGPU_HOST = 1 << 3, /* it is given to virtual machines in parts */
    GPU_SHARED_QUOTA = 1 << 4,     /* a library between us and the driver allots it (HAMi) */
};

/* Whether values of the unit are lists of names, with commas. */
bool gpu_unit_is_list(enum gpu_unit unit);

/* Facts and counters of a recording that an analysis looks for by name. */
#define GPU_FACT_PREFIX        "gpu."
#define GPU_SERIES_SM_CLOCK    "SM clock"
#define GPU_SERIES_TEMPERATURE "GPU temperature"
#define GPU_SERIES_POWER_CAP   "clocks held by power limit"
#define GPU_SERIES_HEAT        "clocks held by heat"
#define GPU_SERIES_POWER_BRAKE "clocks held by power brake"

#endif
