/* Errors that the driver reported of a GPU while it was recorded. They count wherever they are, whatever part
 * of the recording is looked at: the last one is mostly why it ends. */
#include <string.h>

#include "analyze/findings/findings.h"
#include "base/i18n.h"
#include "know/know.h"
#include "know/xid_text.h"

enum { MOST_XIDS = 64, OTHERS = 3 };

struct xid {
    int64_t code, time, count; /* time: of the first one */
    uint32_t device;
    const char *process; /* "" */
};

/* What follows from anything is no error of its own: 45 is also how a program looks that was killed. */
static enum severity severity_of(int64_t code)
{
    const struct know_xid *known = know_xid_find(code);
    if (known && strcmp(known->follows, "*") == 0)
        return SEVERITY_INFO;
    if (!known || strcmp(known->status, "warn") == 0)
        return SEVERITY_WARN;
    return strcmp(known->status, "fail") == 0 ? SEVERITY_CRITICAL : SEVERITY_INFO;
}

/* One row for each code of each device, in order of time. Returns how many. */
static size_t read_xids(const struct run *run, struct xid xids[MOST_XIDS])
{
    size_t count = 0;
    vec_each (&run->marks, mark) {
        struct xid xid = {.time = mark->time, .count = 1, .device = mark->device};
        size_t at = 0;
        if (mark->kind != MARK_XID || !xid_text_parse(run_text(run, mark->text), &xid.code, &xid.process))
            continue;
        while (at < count && (xids[at].code != xid.code || xids[at].device != xid.device))
            at++;
        if (at < count)
            xids[at].count++;
        else if (count < MOST_XIDS)
            xids[count++] = xid;
    }
    return count;
}

/* The first of the worst: what comes after it mostly follows from it. */
static const struct xid *worst(const struct xid *xids, size_t count)
{
    const struct xid *found = xids;
    for (size_t i = 1; i < count; i++)
        if (severity_of(xids[i].code) > severity_of(found->code))
            found = &xids[i];
    return found;
}

static void add_evidence(struct finding *finding, const struct xid *xids, size_t count,
                         const struct xid *told)
{
    if (told->process[0])
        finding_evidence(finding, msg_make(N_("the driver names {0}"), value_text(told->process)));
    if (told->count > 1)
        finding_evidence(finding, msg_make(N_("it came {0} times"), value_count(told->count)));
    int others = 0;
    for (size_t i = 0; i < count && others < OTHERS; i++) {
        if (&xids[i] == told)
            continue;
        finding_evidence(finding,
                         msg_make(N_("also {0} at {1}"), value_xid(xids[i].code), value_time(xids[i].time)));
        others++;
    }
}

void find_xid(struct finder *f)
{
    struct xid xids[MOST_XIDS];
    size_t count = read_xids(f->run, xids);
    if (count == 0)
        return;
    const struct xid *told = worst(xids, count);
    struct finding *finding = finding_add(f, "health-xid", 0, 0, 0, 1.0);
    finding->severity = severity_of(told->code);
    finding->device = told->device;
    if (told->device == NONE)
        finding->title = msg_make(N_("a GPU that was not recorded raised {0} at {1}"), value_xid(told->code),
                                  value_time(told->time));
    else if (f->run->devices.count > 1)
        finding->title = msg_make(N_("GPU {2} raised {0} at {1}"), value_xid(told->code),
                                  value_time(told->time), value_id(f->run->devices.at[told->device].id));
    else
        finding->title =
            msg_make(N_("the GPU raised {0} at {1}"), value_xid(told->code), value_time(told->time));
    add_evidence(finding, xids, count, told);
    finding->action =
        msg_make(N_("what it means and what to do: warplight explain xid {0}"), value_id(told->code));
}
