/* The GPU facts of a recording for people (doc/internals/recording.md has their names). */
#include "cmd/info.h"

#include <string.h>

#include "base/i18n.h"
#include "base/utf8.h"
#include "model/gpu.h"
#include "view/gpu_text.h"

/* Two facts of the same recording by the same name are one GPU's: a name ends at the next dot. */
static size_t uuid_length(const char *key)
{
    const char *uuid = key + strlen(GPU_FACT_PREFIX), *end = strchr(uuid, '.');
    return end && end > uuid && end - uuid < GPU_UUID_BYTES ? (size_t)(end - uuid) : 0;
}

bool info_is_gpu_fact(const struct run *run, const struct fact *fact)
{
    const char *key = run_text(run, fact->key);
    return strncmp(key, GPU_FACT_PREFIX, strlen(GPU_FACT_PREFIX)) == 0 && uuid_length(key) > 0;
}

/* ---- values ----------------------------------------------------------------------------------------------
 */

/* The text of a fact as people read it; what is no number stays as it is. */
static void add_value(struct str *out, enum gpu_unit unit, const char *text)
{
    int64_t value;
    if (unit == GPU_REASONS)
        gpu_text_add_reasons(out, text);
    else if (unit == GPU_SWITCH)
        str_puts(out, strcmp(text, "on") == 0 ? _("on") : strcmp(text, "off") == 0 ? _("off") : text);
    else if (gpu_value_parse(unit, text, &value))
        gpu_text_add(out, unit, value);
    else
        str_puts(out, text);
}

/* ---- one GPU ---------------------------------------------------------------------------------------------
 */

struct gpu_section {
    struct screen *s;
    const struct run *run;
    const char *uuid;
    struct str missing[READING_STATES]; /* titles of what is not known, by reason */
};

static const char *fact_of(const struct gpu_section *g, const char *moment, const char *key)
{
    struct str name = {0};
    str_addf(&name, "%s%s%s", moment, *moment ? "." : "", key);
    const char *text = gpu_fact(g->run, g->uuid, str_text(&name));
    str_release(&name);
    return text;
}

static void note_missing(struct gpu_section *g, const char *moment, const struct gpu_field *field)
{
    struct str key = {0};
    str_addf(&key, "%s_why", field->key);
    const char *why = fact_of(g, moment, str_text(&key));
    str_release(&key);
    enum reading_state state = why ? reading_state_find(why) : READING_STATES;
    if (state == READING_STATES)
        return;
    if (g->missing[state].len)
        str_puts(&g->missing[state], ", ");
    str_puts(&g->missing[state], _(field->title));
}

static void put_text(const struct gpu_section *g, const char *title, const char *key)
{
    const char *text = fact_of(g, "", key);
    if (text)
        info_put_line(g->s, INFO_INDENT, title, text);
}

static void put_field(struct gpu_section *g, const char *moment, const struct gpu_field *field)
{
    struct str text = {0};
    const char *value = fact_of(g, moment, field->key);
    if (value) {
        add_value(&text, field->unit, value);
        info_put_line(g->s, INFO_INDENT, _(field->title), str_text(&text));
    } else {
        note_missing(g, moment, field);
    }
    str_release(&text);
}

/* "1980 MHz → 1455 MHz", or once where nothing changed. */
static void put_level(struct gpu_section *g, const struct gpu_field *field)
{
    struct str text = {0};
    const char *start = fact_of(g, "start", field->key), *end = fact_of(g, "end", field->key);
    if (start)
        add_value(&text, field->unit, start);
    if (end && (!start || strcmp(start, end) != 0)) {
        str_puts(&text, start ? " → " : "");
        add_value(&text, field->unit, end);
    }
    if (text.len)
        info_put_line(g->s, INFO_INDENT, _(field->title), str_text(&text));
    else
        note_missing(g, "end", field);
    str_release(&text);
}

static void put_why(const struct gpu_section *g, const char *key, const char *title)
{
    const char *why = gpu_fact(g->run, g->uuid, key);
    enum reading_state state = why ? reading_state_find(why) : READING_STATES;
    if (state != READING_STATES)
        info_put_line(g->s, INFO_INDENT, title, _(reading_state_meaning(state)));
}

static void put_gpu(struct screen *s, const struct run *run, const char *uuid)
{
    struct gpu_section g = {.s = s, .run = run, .uuid = uuid};
    static const struct gpu_field observed = {
        .key = "observed_ns", .title = N_("from first to last look"), .unit = GPU_NS};
    struct str heading = {0};
    utf8_visible(&heading, uuid, strlen(uuid));
    info_put_heading(s, str_text(&heading));
    str_release(&heading);
    put_text(&g, _("name"), "name");
    put_text(&g, _("PCI address"), "pci_bus_id");
    put_text(&g, _("VBIOS"), "vbios");
    for (const struct gpu_field *field = gpu_fact_fields; field->key; field++)
        put_field(&g, "", field);
    for (const struct gpu_field *field = gpu_sample_fields; field->key; field++)
        if (field->kind == GPU_LEVEL)
            put_level(&g, field);
    put_field(&g, "recorded", &observed);
    for (const struct gpu_field *field = gpu_sample_fields; field->key; field++)
        if (field->kind == GPU_TOTAL)
            put_field(&g, "recorded", field);
    put_why(&g, "why", _("not known"));
    put_why(&g, "start_why", _("not known at the start"));
    put_why(&g, "end_why", _("not known at the end"));
    for (int state = 0; state < READING_STATES; state++) {
        if (g.missing[state].len)
            info_put_line(s, INFO_INDENT, _(reading_state_meaning((enum reading_state)state)),
                          str_text(&g.missing[state]));
        str_release(&g.missing[state]);
    }
}

void info_put_gpus(struct screen *s, const struct run *run)
{
    enum { MOST_GPUS = 64 }; /* a damaged file can name any number */
    struct map seen = {0};
    int shown = 0;
    vec_each (&run->facts, fact) {
        if (!info_is_gpu_fact(run, fact))
            continue;
        const char *key = run_text(run, fact->key);
        struct str uuid = {0};
        str_add(&uuid, key + strlen(GPU_FACT_PREFIX), uuid_length(key));
        uint64_t hash = hash_bytes(str_text(&uuid), uuid.len);
        if (map_get(&seen, hash) == MAP_ABSENT && shown++ < MOST_GPUS)
            put_gpu(s, run, str_text(&uuid));
        map_set(&seen, hash, 1);
        str_release(&uuid);
    }
    map_release(&seen);
}
