/* Xids of a sample as text, JSON and CSV. */
#include <inttypes.h>
#include <string.h>

#include "base/i18n.h"
#include "know/know.h"
#include "view/machine.h"
#include "view/machine_event.h"

static const char *meaning_of(int64_t code)
{
    const struct know_xid *known = know_xid_find(code);
    return known ? known->en : "";
}

/* ---- text ------------------------------------------------------------------------------------------------
 */

static void add_sentence(struct str *out, const char *text)
{
    if (out->len)
        str_puts(out, i18n_lang() == LANG_ZH ? "。" : ". ");
    str_puts(out, text);
}

void machine_event_add(struct str *out, const struct machine_sample *s, const struct machine_event *e)
{
    const struct know_xid *known = know_xid_find(e->code);
    const struct know_action *now = known ? know_action_find(known->now) : NULL;
    str_puts(out, "GPU ");
    if (e->device != NONE && s->devices.at[e->device].id != UNKNOWN)
        str_addf(out, "%" PRId64, s->devices.at[e->device].id);
    else
        str_puts(out, e->bus[0] ? e->bus : "?");
    str_addf(out, ": Xid %" PRId64, e->code);
    if (e->count > 1)
        str_addf(out, " ×%" PRId64, e->count);
    if (e->process[0])
        str_addf(out, ", %s", e->process);
    str_addf(out, ": %s", known ? know_text(known->en, known->zh) : _("not in NVIDIA's list of 2026"));
    if (now)
        add_sentence(out, know_text(now->en, now->zh));
}

/* ---- JSON ------------------------------------------------------------------------------------------------
 */

static void put_event(struct json_writer *w, const struct machine_sample *s, const struct machine_event *e)
{
    const struct machine_device *d = e->device == NONE ? NULL : &s->devices.at[e->device];
    json_object_begin(w);
    json_key_int(w, "time_unix_ns", e->time_unix_ns);
    json_key_int(w, "xid", e->code);
    json_key_int(w, "count", e->count);
    json_key_int(w, "device_id", d ? d->id : UNKNOWN);
    machine_json_text(w, "device_uuid", d ? d->facts.uuid : "");
    machine_json_text(w, "pci_bus_id", e->bus);
    machine_json_text(w, "process", e->process);
    machine_json_text(w, "meaning", meaning_of(e->code));
    machine_json_text(w, "text", e->text);
    json_key(w, "told_by");
    json_array_begin(w);
    if (e->told_by & MACHINE_TOLD_BY_NVML)
        json_puts(w, "nvml");
    if (e->told_by & MACHINE_TOLD_BY_KERNEL_LOG)
        json_puts(w, "kernel-log");
    json_array_end(w);
    json_object_end(w);
}

void machine_events_json(struct json_writer *w, const struct machine_sample *s)
{
    json_key(w, "events");
    json_array_begin(w);
    vec_each (&s->events, event)
        put_event(w, s, event);
    json_array_end(w);
}
