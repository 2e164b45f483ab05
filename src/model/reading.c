#include "model/reading.h"

#include <string.h>

#include "base/i18n.h"

static const struct {
    const char *name, *meaning;
} states[READING_STATES] = {
    [READING_UNREAD] = {"not-looked-at", N_("not looked at")},
    [READING_KNOWN] = {"known", N_("known")},
    [READING_UNSUPPORTED] = {"unsupported", N_("not supported")},
    [READING_NO_PERMISSION] = {"no-permission", N_("no permission")},
    [READING_ASLEEP] = {"asleep", N_("the GPU was asleep")},
    [READING_LOST] = {"lost", N_("the GPU is lost")},
    [READING_STALE] = {"stale", N_("an old value")},
    [READING_NO_DRIVER] = {"no-driver", N_("no driver library")},
    [READING_NO_ANSWER] = {"no-answer", N_("the driver did not answer")},
    [READING_IMPLAUSIBLE] = {"implausible", N_("an impossible value")},
    [READING_FAILED] = {"failed", N_("the query failed")},
    [READING_ALTERED] = {"altered", N_("changed by a library in between")},
};

struct reading reading_gain(struct reading before, struct reading after)
{
    int64_t gain;
    if (!reading_is_known(after))
        return reading_missing(after.state);
    if (!reading_is_known(before))
        return reading_missing(before.state);
    if (__builtin_sub_overflow(after.value, before.value, &gain) || gain < 0)
        return reading_missing(READING_IMPLAUSIBLE);
    return reading_of(gain);
}

const char *reading_state_name(enum reading_state state)
{
    return states[state].name;
}

const char *reading_state_meaning(enum reading_state state)
{
    return states[state].meaning;
}

enum reading_state reading_state_find(const char *name)
{
    for (int i = 0; i < READING_STATES; i++)
        if (strcmp(states[i].name, name) == 0)
            return (enum reading_state)i;
    return READING_STATES;
}
