/* A reading: one number that a device was asked for, or why there is none. Unknown is not zero.
 *
 * A zeroed reading says that nobody looked. value counts only where the state is READING_KNOWN, or
 * READING_STALE: then it was true once, or READING_ALTERED: then it is not the device's own. */
#ifndef WARPLIGHT_MODEL_READING_H
#define WARPLIGHT_MODEL_READING_H

#include <stdbool.h>
#include <stdint.h>

enum reading_state {
    READING_UNREAD,        /* nobody looked */
    READING_KNOWN,         /* value holds */
    READING_UNSUPPORTED,   /* the device, its driver or this mode of it does not have it */
    READING_NO_PERMISSION, /* it exists, for others */
    READING_ASLEEP,        /* asking would wake the device */
    READING_LOST,          /* the device is gone, or needs a reset */
    READING_STALE,         /* value is an old one */
    READING_NO_DRIVER,     /* the vendor's library or driver is not there, or the two do not fit */
    READING_NO_ANSWER,     /* the call did not return in time */
    READING_IMPLAUSIBLE,   /* there was an answer, and it cannot be true */
    READING_FAILED,        /* the call failed for another reason */
    READING_ALTERED,       /* value is what a library between us and the driver says: a quota, mostly */
    READING_STATES,
};

struct reading {
    int64_t value;
    enum reading_state state;
};

static inline struct reading reading_of(int64_t value)
{
    return (struct reading){value, READING_KNOWN};
}
static inline struct reading reading_missing(enum reading_state why)
{
    return (struct reading){0, why};
}
static inline bool reading_is_known(struct reading r)
{
    return r.state == READING_KNOWN;
}
/* Whether there is a value to show, be it an old one or not the device's own. */
static inline bool reading_has_value(struct reading r)
{
    return r.state == READING_KNOWN || r.state == READING_STALE || r.state == READING_ALTERED;
}

/* What a counter that only grows gained between two readings. Unknown where one of them is; implausible where
 * it went back, as after a reset of the device. */
struct reading reading_gain(struct reading before, struct reading after);

/* "no-permission": a fixed name for machines. */
const char *reading_state_name(enum reading_state state);
/* The same for people: a msgid. */
const char *reading_state_meaning(enum reading_state state);
/* READING_STATES where no state has that name. */
enum reading_state reading_state_find(const char *name);

#endif
