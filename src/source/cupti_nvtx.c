#include "source/cupti_nvtx.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"

/* Texts with numbers in them are all different: beyond so many, ranges go without. */
enum { MOST_DETAILS = 1 << 18, DETAIL_BYTES = 1024 };

static bool is_timed(struct run *run, int64_t start, int64_t end)
{
    bool timed = start > 0 && end >= start && end <= RING_LATEST_NS;
    run->losses.untimed += !timed;
    return timed;
}

/* ---- details --------------------------------------------------------------------------------------------
 */

static void add_part(struct str *detail, const char *between, const char *text)
{
    if (*text)
        str_addf(detail, "%s%.200s", detail->len ? between : "", text);
}

static void add_simple_payload(struct str *detail, const struct ring_range *range)
{
    union {
        uint64_t bits;
        int64_t i64;
        uint32_t u32;
        int32_t i32;
        double f64;
        float f32;
    } value = {.bits = range->payload};
    char text[64];
    switch (range->payload_type) {
    case RING_PAYLOAD_UINT64:
        snprintf(text, sizeof text, "%" PRIu64, value.bits);
        break;
    case RING_PAYLOAD_INT64:
        snprintf(text, sizeof text, "%" PRId64, value.i64);
        break;
    case RING_PAYLOAD_DOUBLE:
        snprintf(text, sizeof text, "%.9g", value.f64);
        break;
    case RING_PAYLOAD_UINT32:
        snprintf(text, sizeof text, "%" PRIu32, value.u32);
        break;
    case RING_PAYLOAD_INT32:
        snprintf(text, sizeof text, "%" PRId32, value.i32);
        break;
    case RING_PAYLOAD_FLOAT:
        snprintf(text, sizeof text, "%.9g", (double)value.f32);
        break;
    default:
        return;
    }
    str_addf(detail, "%spayload %s", detail->len ? ", " : "", text);
}

bool cupti_nvtx_number(const struct ring_payload_range *payload, const struct ring_schema_entry *entry,
                       uint64_t *bits)
{
    bool fits = entry->bytes >= 1 && entry->bytes <= sizeof *bits && payload->bytes <= RING_PAYLOAD_BYTES &&
                entry->offset <= payload->bytes && entry->bytes <= payload->bytes - entry->offset;
    *bits = 0;
    if (fits)
        memcpy(bits, payload->data + entry->offset, entry->bytes);
    int unused = 64 - 8 * entry->bytes;
    if (fits && entry->is_signed && unused > 0)
        *bits = (uint64_t)((int64_t)(*bits << unused) >> unused);
    return fits;
}

static void add_payload(struct str *detail, const struct ring_payload_range *payload,
                        const struct ring_schema *schema)
{
    for (uint32_t i = 0; i < schema->count; i++) {
        const struct ring_schema_entry *entry = &schema->entries[i];
        uint64_t bits;
        if (!cupti_nvtx_number(payload, entry, &bits))
            continue;
        str_addf(detail, "%s%.*s ", detail->len ? ", " : "", (int)strnlen(entry->name, sizeof entry->name),
                 entry->name);
        if (entry->is_float) {
            double value = 0;
            float single = 0;
            memcpy(&value, &bits, sizeof value);
            memcpy(&single, &bits, sizeof single);
            str_addf(detail, "%.9g", entry->bytes == sizeof single ? (double)single : value);
        } else if (entry->is_signed) {
            str_addf(detail, "%" PRId64, (int64_t)bits);
        } else {
            str_addf(detail, "%" PRIu64, bits);
        }
    }
}

/* "domain / category, payload 3, ends on thread 12, unfinished", as much of it as there is. */
static uint32_t detail_of(struct cupti_records *r, struct run *run, const struct ring_range *range,
                          const struct ring_payload_range *payload, bool unfinished)
{
    const struct ring_schema *schema = payload ? cupti_texts_schema(&r->texts, payload->schema) : NULL;
    bool numbers = (schema || range->payload_type != RING_PAYLOAD_NONE) && r->details < MOST_DETAILS;
    bool elsewhere = range->end_thread && range->end_thread != range->thread;
    uint32_t domain = range->domain ? cupti_texts_hashed(&r->texts, range->domain, run, "") : 0;
    if (!numbers && !elsewhere && !unfinished && range->category == 0)
        return domain;
    struct str detail = {0};
    add_part(&detail, "", run_text(run, domain));
    if (range->category)
        add_part(&detail, " / ",
                 run_text(run, cupti_texts_category(&r->texts, range->domain, range->category, run)));
    if (numbers && schema)
        add_payload(&detail, payload, schema);
    else if (numbers)
        add_simple_payload(&detail, range);
    r->details += numbers;
    if (elsewhere)
        str_addf(&detail, "%sends on thread %" PRIu32, detail.len ? ", " : "", range->end_thread);
    if (unfinished)
        add_part(&detail, ", ", "unfinished");
    uint32_t id =
        intern_add(&run->strings, str_text(&detail), detail.len < DETAIL_BYTES ? detail.len : DETAIL_BYTES);
    str_release(&detail);
    return id;
}

/* ---- rows -----------------------------------------------------------------------------------------------
 */

static void add_range(struct cupti_records *r, struct run *run, const struct ring_range *range,
                      const struct ring_payload_range *payload, int64_t end, bool unfinished)
{
    if (!is_timed(run, range->start, end))
        return;
    size_t span = span_table_add(&run->spans);
    run->spans.kind[span] = SPAN_ANNOTATION;
    run->spans.start[span] = range->start;
    run->spans.end[span] = end;
    run->spans.thread[span] = cupti_records_thread(r, run, range->thread);
    run->spans.name[span] = cupti_texts_hashed(&r->texts, range->name, run, "(name lost)");
    run->spans.detail[span] = detail_of(r, run, range, payload, unfinished);
    run->spans.comm[span] = NONE;
    if (range->domain && !unfinished &&
        strcmp(run_text(run, cupti_texts_hashed(&r->texts, range->domain, run, "")), "NCCL") == 0)
        cupti_nccl_range(&r->nccl, run, span, payload,
                         payload ? cupti_texts_schema(&r->texts, payload->schema) : NULL);
    cupti_records_heard(r, end);
}

void cupti_nvtx_range(struct cupti_records *r, struct run *run, const struct ring_range *range,
                      const struct ring_payload_range *payload)
{
    add_range(r, run, range, payload, range->end, false);
}

void cupti_nvtx_unfinished(struct cupti_records *r, struct run *run, const struct ring_payload_range *range,
                           int64_t end)
{
    if (range->range.start > 0 && range->range.start > end)
        end = range->range.start;
    add_range(r, run, &range->range, range->bytes ? range : NULL, end, true);
    r->unfinished++;
}

void cupti_nvtx_mark(struct cupti_records *r, struct run *run, const struct ring_range *mark)
{
    if (!is_timed(run, mark->start, mark->start))
        return;
    vec_push(&run->marks,
             ((struct mark){.time = mark->start,
                            .kind = MARK_INSTANT,
                            .text = cupti_texts_hashed(&r->texts, mark->name, run, "(name lost)"),
                            .thread = cupti_records_thread(r, run, mark->thread),
                            .device = NONE}));
    cupti_records_heard(r, mark->start);
}
