/* Faults of programs that the kernel's log has, seen from how the GPUs are now. */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "analyze/setup.h"
#include "know/know.h"

/* Whether the GPU of a log ("0000:3b:00", with MIG suffix) answers and needs no recovery. An older driver has
 * no word for it; then to answer is enough. */
static bool is_fit(const struct setup *s, const char *name)
{
    size_t length = strcspn(name, " ");
    vec_each (&s->sample.devices, device) {
        struct reading recovery = device->detail.recovery;
        if (device->parent != NONE || length == 0 || strncasecmp(device->facts.bus, name, length) != 0)
            continue;
        bool is_asked_for =
            recovery.state != READING_UNSUPPORTED && !(reading_is_known(recovery) && recovery.value == 0);
        return device->state == READING_KNOWN && !is_asked_for;
    }
    return false;
}

static bool is_examined(const struct setup *s, const char *process)
{
    char pid[32];
    snprintf(pid, sizeof pid, "(%lld)", (long long)s->pid);
    return s->pid && process && strstr(process, pid);
}

void setup_settle_faults(const struct setup *s, struct logbook *book)
{
    vec_each (&book->sightings, sighting) {
        const struct know_xid *xid = sighting->kind == SIGHTING_XID ? know_xid_find(sighting->code) : NULL;
        sighting->is_over = xid && strcmp(xid->origin, "app") == 0 && sighting->device &&
                            is_fit(s, sighting->device) && !is_examined(s, sighting->process);
    }
}
