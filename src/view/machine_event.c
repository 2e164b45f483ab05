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

static const char *say(const char *en, const char *zh)
{
    return i18n_lang() == LANG_ZH && *zh ? zh : en;
}

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
    str_addf(out, ": %s", known ? say(known->en, known->zh) : _("not in NVIDIA's list of 2026"));
    if (now)
        add_sentence(out, say(now->en, now->zh));
}

/* ---- JSON ------------------------------------------------------------------------------------------------
 */

static void put_text(struct json_writer *w, const char *key, const char *text)
{
    json_key(w, key);
    if (*text)
        json_puts(w, text);
    else
        json_null(w);
}

static void put_int(struct json_writer *w, const char *key, int64_t value)
{
    json_key(w, key);
    json_int(w, value);
}

static void put_event(struct json_writer *w, const struct machine_sample *s, const struct machine_event *e)
{
    const struct machine_device *d = e->device == NONE ? NULL : &s->devices.at[e->device];
    json_object_begin(w);
    put_int(w, "time_unix_ns", e->time_unix_ns);
    put_int(w, "xid", e->code);
    put_int(w, "count", e->count);
    put_int(w, "device_id", d ? d->id : UNKNOWN);
    put_text(w, "device_uuid", d ? d->facts.uuid : "");
    put_text(w, "pci_bus_id", e->bus);
    put_text(w, "process", e->process);
    put_text(w, "meaning", meaning_of(e->code));
    put_text(w, "text", e->text);
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
