#include "source/gpu_facts.h"

#include <stdio.h>
#include <string.h>

#include "base/utf8.h"

static void add(struct run *run, uint32_t source, const char *key, const char *value)
{
    run_fact(run, source, key, value, strlen(value));
}

/* Driver texts are made fit for a terminal. */
static void add_text(struct run *run, uint32_t source, const char *prefix, const char *key, const char *text)
{
    struct str name = {0}, visible = {0};
    if (*text) {
        str_addf(&name, "%s%s", prefix, key);
        utf8_visible(&visible, text, strlen(text));
        add(run, source, str_text(&name), str_text(&visible));
    }
    str_release(&name);
    str_release(&visible);
}

static void add_reading(struct run *run, uint32_t source, const char *prefix, const struct gpu_field *field,
                        struct reading reading)
{
    struct str name = {0}, value = {0};
    bool known = reading_is_known(reading);
    str_addf(&name, "%s%s%s", prefix, field->key, known ? "" : "_why");
    if (known)
        gpu_value_add(&value, field->unit, reading.value);
    else
        str_puts(&value, reading_state_name(reading.state));
    add(run, source, str_text(&name), str_text(&value));
    str_release(&name);
    str_release(&value);
}

static void start_prefix(struct str *prefix, const char *uuid, const char *moment)
{
    str_addf(prefix, GPU_FACT_PREFIX "%s.", uuid);
    if (moment)
        str_addf(prefix, "%s.", moment);
}

void gpu_facts_library(struct run *run, uint32_t source, enum reading_state state, const char *driver,
                       struct reading cuda)
{
    char version[32];
    if (state != READING_KNOWN) {
        add(run, source, "nvml_why", reading_state_name(state));
        return;
    }
    add_text(run, source, "nvml.", "driver_version", driver);
    if (!reading_is_known(cuda))
        return;
    snprintf(version, sizeof version, "%d.%d", (int)(cuda.value / 1000), (int)(cuda.value % 1000 / 10));
    add(run, source, "nvml.cuda_version", version);
}

void gpu_facts_static(struct run *run, uint32_t source, const struct gpu_facts *facts)
{
    struct str prefix = {0};
    start_prefix(&prefix, facts->uuid, NULL);
    add_text(run, source, str_text(&prefix), "name", facts->name);
    add_text(run, source, str_text(&prefix), "pci_bus_id", facts->bus);
    add_text(run, source, str_text(&prefix), "vbios", facts->vbios);
    for (const struct gpu_field *field = gpu_fact_fields; field->key; field++)
        add_reading(run, source, str_text(&prefix), field, gpu_get(facts, field));
    str_release(&prefix);
}

/* The one reason why no level is known; READING_KNOWN where one is, or where reasons differ. */
static enum reading_state common_reason(const struct gpu_sample *sample)
{
    enum reading_state why = READING_STATES;
    for (const struct gpu_field *field = gpu_sample_fields; field->key; field++) {
        enum reading_state state = gpu_get(sample, field).state;
        if (field->kind != GPU_LEVEL || state == READING_UNREAD)
            continue;
        if (why != READING_STATES && state != why)
            return READING_KNOWN;
        why = state;
    }
    return why == READING_STATES ? READING_UNREAD : why;
}

void gpu_facts_moment(struct run *run, uint32_t source, const char *uuid, const char *moment,
                      const struct gpu_sample *sample)
{
    enum reading_state why = common_reason(sample);
    struct str prefix = {0};
    if (why != READING_KNOWN) {
        gpu_facts_why(run, source, uuid, moment, why);
        return;
    }
    start_prefix(&prefix, uuid, moment);
    for (const struct gpu_field *field = gpu_sample_fields; field->key; field++)
        if (field->kind == GPU_LEVEL)
            add_reading(run, source, str_text(&prefix), field, gpu_get(sample, field));
    str_release(&prefix);
}

void gpu_facts_gains(struct run *run, uint32_t source, const char *uuid, const struct gpu_sample *first,
                     const struct gpu_sample *last)
{
    static const struct gpu_field observed = {.key = "observed_ns", .unit = GPU_NS};
    struct str prefix = {0};
    start_prefix(&prefix, uuid, "recorded");
    add_reading(run, source, str_text(&prefix), &observed,
                reading_gain(reading_of(first->time_ns), reading_of(last->time_ns)));
    for (const struct gpu_field *field = gpu_sample_fields; field->key; field++)
        if (field->kind == GPU_TOTAL)
            add_reading(run, source, str_text(&prefix), field,
                        reading_gain(gpu_get(first, field), gpu_get(last, field)));
    str_release(&prefix);
}

void gpu_facts_why(struct run *run, uint32_t source, const char *uuid, const char *part,
                   enum reading_state why)
{
    struct str name = {0};
    str_addf(&name, GPU_FACT_PREFIX "%s.%s%swhy", uuid, part ? part : "", part ? "_" : "");
    add(run, source, str_text(&name), reading_state_name(why));
    str_release(&name);
}
