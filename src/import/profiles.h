/* What importers of kernel counters share: profiles, their counters in base units, and what counters say of
 * the device and of the launch. */
#ifndef WARPLIGHT_IMPORT_PROFILES_H
#define WARPLIGHT_IMPORT_PROFILES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/vec.h"
#include "model/run.h"

/* The shape of a profile while its counters come in. */
struct draft {
    struct shape shape;
    double block_size, grid_size; /* products, as the driver counted them; 0 not known */
    bool has_shape;
};

struct profiles {
    struct run *run;
    uint32_t source;
    uint32_t first; /* of this source in run->profiles */
    VEC(struct draft) drafts;
    struct map names;    /* label → 1 + name, once it was looked at */
    struct map counters; /* profile << 32 | name: those that are there */
    struct map places;   /* hash of (function, pc, file, line) → row of run->places */
};

void profiles_begin(struct profiles *p, struct run *run, uint32_t source);
/* Settles the launch shapes and releases. */
void profiles_end(struct profiles *p);

/* A new profile with nothing known but its kernel's name. */
uint32_t profiles_add(struct profiles *p, const char *name, size_t length);
struct draft *profiles_draft(struct profiles *p, uint32_t profile);
/* Says on which device of the source it ran. */
void profiles_set_device(struct profiles *p, uint32_t profile, int64_t id);
/* "(32, 8, 1)", "32x8x1" or "32, 8, 1"; false if it is none of them. */
bool profiles_read_dim(const char *text, size_t length, uint32_t dim[3]);
/* "9.0" */
void profiles_set_cc(struct profiles *p, uint32_t profile, const char *text, size_t length);

/* Adds a counter; the first of a name stands. unit as the source spells it: the value is brought to the base
 * unit. A value that is not finite is COUNTER_IMPLAUSIBLE. */
void profiles_value(struct profiles *p, uint32_t profile, uint32_t name, const char *unit, size_t unit_length,
                    double value);
void profiles_no_value(struct profiles *p, uint32_t profile, uint32_t name, enum counter_state state);
/* An attribute of a device that a source gives apart from launches. */
void profiles_device_value(struct profiles *p, uint32_t device, const char *name, double value);
/* A counter whose value is a text: kept where it is a fact about the device. */
void profiles_text(struct profiles *p, uint32_t profile, uint32_t name, const char *text, size_t length);

/* A new place of which nothing is known. */
uint32_t profiles_new_place(struct profiles *p);
/* The place of an instruction or line in a kernel; found again by (function, pc, file, line). */
uint32_t profiles_place(struct profiles *p, uint32_t function, uint64_t pc, uint32_t file, uint32_t line);
void profiles_place_value(struct profiles *p, uint32_t profile, uint32_t place, uint32_t name, double value);

#endif
