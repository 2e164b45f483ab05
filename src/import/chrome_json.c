/* Chrome traces: {"traceEvents": […], …} or the bare list of events, written by torch.profiler, TensorFlow,
 * XLA and many others. This file reads the document and recovers from damage; what the events mean is
 * chrome_torch.c's and chrome_generic.c's business.
 *
 * Damage costs the record that it hit and nothing else. An event that is not JSON is read again leniently
 * (quotes inside strings, which Kineto did not escape until July 2026). If that fails too, reading goes on at
 * the next object that begins as an event does. */
#include <stdlib.h>

#include "base/i18n.h"
#include "import/chrome.h"

extern const struct importer import_chrome_json;

/* First members of events in the wild. An object that begins with one of them is taken for an event. */
static const char *const event_starts[] = {"ph",   "cat", "name", "pid",   "tid", "ts",   "dur",
                                           "args", "id",  "s",    "cname", "bp",  "tdur", NULL};
/* Metadata has objects with names and ids of its own. */
static const char *const sure_event_starts[] = {"ph", "cat", "ts", NULL};
static const char *const member_keys[] = {
    "traceEvents",     "baseTimeNanoseconds", "displayTimeUnit", "deviceProperties",
    "distributedInfo", "traceName",           "schemaVersion",   NULL};

static const struct json_landmarks event_marks = {.objects = event_starts, .members = member_keys};
static const struct json_landmarks document_marks = {.objects = sure_event_starts, .members = member_keys};

enum { PROGRESS_BYTES = 4 << 20, KEY_BYTES = 64 };

struct document {
    struct chrome chrome;
    int64_t record_end; /* offset behind the last complete record */
    int64_t next_progress;
    bool in_record;
    bool truncated;
    bool has_events;
};

enum outcome {
    LIST_CLOSED, /* at its bracket */
    LIST_LEFT,   /* damage; the next thing that makes sense is a member of the object around the list */
    INPUT_ENDED,
};

/* ---- events -------------------------------------------------------------------------------------------- */

static void report_progress(struct document *d, int64_t offset)
{
    const struct import_options *options = d->chrome.options;
    const struct stream *in = d->chrome.json.in;
    d->next_progress = offset + PROGRESS_BYTES;
    if (options && options->progress)
        options->progress(options->context, stream_path(in), stream_consumed(in), stream_size(in));
}

static void use_event(struct document *d, const struct chrome_event *event)
{
    struct chrome *c = &d->chrome;
    if (event->phase == 0) {
        if (event->has == 0) /* {} ends some lists, so that every event can be followed by a comma */
            return;
        c->run->losses.malformed++;
        run_repair(c->run, c->source, N_("events without a phase left out"), 1, event->offset);
        return;
    }
    if (!chrome_torch_event(c, event))
        chrome_generic_event(c, event);
}

/* Reads the event that is not JSON once more. */
static bool mend_event(struct document *d, struct chrome_event *event)
{
    struct chrome *c = &d->chrome;
    if (!json_lenient(&c->json, &event_marks))
        return false;
    bool read = chrome_event_read(&c->reader, &c->json, event);
    if (read) {
        use_event(d, event);
        run_repair(c->run, c->source, N_("events with unescaped quotes in their texts"), 1, event->offset);
    }
    json_strict(&c->json);
    return read;
}

/* Reads one event; false if that failed. */
static bool read_event(struct document *d)
{
    struct chrome *c = &d->chrome;
    struct json_reader *json = &c->json;
    struct chrome_event event;
    d->in_record = true;
    do {
        json_hold(json);
        chrome_event_read(&c->reader, json, &event);
    } while (json_retry(json));
    if (json->state == JSON_OK)
        use_event(d, &event);
    else if (!mend_event(d, &event))
        return false;
    d->in_record = false;
    d->record_end = json_offset(json);
    if (d->record_end >= d->next_progress)
        report_progress(d, d->record_end);
    return true;
}

/* Reads the elements of the open list to its end. */
static enum outcome read_events(struct document *d)
{
    struct chrome *c = &d->chrome;
    struct json_reader *json = &c->json;
    int depth = json->depth;
    d->has_events = true;
    for (;;) {
        bool item = json_next_item(json);
        int64_t offset = json_offset(json);
        if (item && (json_peek(json) == JSON_OBJECT ? read_event(d) : json_skip(json)))
            continue;
        if (json->state == JSON_OK)
            return LIST_CLOSED;
        if (json->state == JSON_END)
            return INPUT_ENDED;
        if (item) {
            c->run->losses.malformed++;
            run_repair(c->run, c->source, N_("events that could not be understood left out"), 1, offset);
        } else {
            run_repair(c->run, c->source, N_("stray text between events skipped"), 1, offset);
        }
        if (!json_seek(json, &event_marks, depth))
            return INPUT_ENDED;
        if (json_peek(json) != JSON_OBJECT) {
            json->depth--;
            return LIST_LEFT;
        }
    }
}

/* ---- other members ------------------------------------------------------------------------------------- */

static void metadata_lost(struct chrome *c, int64_t offset)
{
    run_repair(c->run, c->source, N_("metadata that could not be understood left out"), 1, offset);
}

/* Reads a value that is worth keeping: its bytes as a whole first, so that nothing is taken twice. */
static bool read_metadata(struct document *d, struct json_text key)
{
    struct chrome *c = &d->chrome;
    struct json_reader *json = &c->json;
    struct json_text raw;
    do {
        json_hold(json);
        json_read_raw(json, &raw);
        json_expect_end(json);
    } while (json_retry(json));
    if (json->state == JSON_OK) {
        struct json_reader value;
        json_open_text(&value, raw);
        json_hold(&value);
        chrome_metadata_read(c, &value, key);
        if (value.state != JSON_OK)
            metadata_lost(c, json_offset(json));
        json_close(&value);
        return true;
    }
    if (!json_lenient(json, &document_marks))
        return false;
    chrome_metadata_read(c, json, key);
    bool read = json->state == JSON_OK;
    json_strict(json);
    if (read)
        run_repair(c->run, c->source, N_("metadata with unescaped quotes in its texts"), 1,
                   json_offset(json));
    return read;
}

static bool read_member(struct document *d, struct json_text key)
{
    struct json_reader *json = &d->chrome.json;
    char name[KEY_BYTES + 8] = {0};
    struct json_text kept = {name, key.length < KEY_BYTES ? key.length : 0};
    memcpy(name, key.at, kept.length);
    enum json_type type = json_peek(json);
    if (json_text_is(kept, "traceEvents") && type == JSON_ARRAY)
        return json_enter(json, JSON_ARRAY) && read_events(d) != INPUT_ENDED;
    return kept.length && chrome_metadata_known(&d->chrome, kept, type) ? read_metadata(d, kept)
                                                                        : json_skip(json);
}

/* Reads the members of the open object to its end. False at the end of the input. */
static bool read_object(struct document *d)
{
    struct chrome *c = &d->chrome;
    struct json_reader *json = &c->json;
    struct json_text key;
    int depth = json->depth;
    for (;;) {
        int64_t offset = json_offset(json);
        bool member = json_next_key(json, &key);
        if (member && read_member(d, key)) {
            d->record_end = json_offset(json);
            continue;
        }
        if (json->state == JSON_OK) {
            d->record_end = json_offset(json);
            return true;
        }
        if (json->state == JSON_END)
            return false;
        metadata_lost(c, offset);
        if (!json_seek(json, d->has_events ? &event_marks : &document_marks, depth))
            return false;
        if (json_peek(json) == JSON_OBJECT && json_assume(json, JSON_ARRAY) && read_events(d) == INPUT_ENDED)
            return false;
    }
}

/* ---- the document -------------------------------------------------------------------------------------- */

/* Reads one document, or what is left of one whose beginning is missing. False at the end of the input. */
static bool read_document(struct document *d)
{
    struct json_reader *json = &d->chrome.json;
    switch (json_peek(json)) {
    case JSON_OBJECT:
        json_enter(json, JSON_OBJECT);
        return read_object(d);
    case JSON_ARRAY:
        json_enter(json, JSON_ARRAY);
        /* the closing bracket of a bare list is optional */
        return read_events(d) != INPUT_ENDED || !d->in_record;
    default:
        if (!json_seek(json, &document_marks, 0))
            return true;
        if (json_peek(json) != JSON_OBJECT)
            return json_assume(json, JSON_OBJECT) && read_object(d);
        return json_assume(json, JSON_ARRAY) && (read_events(d) != INPUT_ENDED || !d->in_record);
    }
}

static void read_documents(struct document *d)
{
    struct chrome *c = &d->chrome;
    struct json_reader *json = &c->json;
    for (int documents = 0;; documents++) {
        enum json_type type = json_peek(json);
        if (json->state == JSON_END)
            return;
        int64_t offset = json_offset(json);
        if (type != JSON_OBJECT && type != JSON_ARRAY)
            run_repair(c->run, c->source, N_("text around the JSON document skipped"), 1, offset);
        else if (documents > 0)
            run_repair(c->run, c->source, N_("further JSON documents in the same file read too"), 1, offset);
        if (!read_document(d)) {
            d->truncated = true;
            c->run->losses.truncated_bytes += json_offset(json) - d->record_end;
            run_repair(c->run, c->source, N_("the JSON ends early; everything before the break was read"), 1,
                       d->record_end);
            return;
        }
    }
}

/* ---- the run ------------------------------------------------------------------------------------------- */

static void shift_column(int64_t *times, size_t from, size_t count, int64_t shift)
{
    for (size_t i = from; i < count; i++)
        times[i] += shift;
}

/* The base time may come after the events. */
static void apply_base(struct chrome *c)
{
    struct run *run = c->run;
    int64_t shift = c->file_base_ns - c->base_ns;
    if (shift == 0)
        return;
    shift_column(run->ops.start, c->first_op, run->ops.count, shift);
    shift_column(run->ops.end, c->first_op, run->ops.count, shift);
    shift_column(run->spans.start, c->first_span, run->spans.count, shift);
    shift_column(run->spans.end, c->first_span, run->spans.count, shift);
    shift_column(run->samples.time, c->first_sample, run->samples.count, shift);
    for (size_t i = c->first_mark; i < run->marks.count; i++)
        run->marks.at[i].time += shift;
    for (size_t i = c->first_wait; i < run->waits.count; i++) {
        run->waits.at[i].start += shift;
        run->waits.at[i].end += shift;
    }
    c->base_ns = c->file_base_ns;
}

static const char *format_name(const struct chrome *c)
{
    if (c->torch_events)
        return "torch.profiler JSON";
    if (c->tensorflow)
        return "TensorFlow timeline JSON";
    return c->xla ? "XLA trace JSON" : "Chrome trace JSON";
}

static void begin(struct chrome *c, struct run *run, struct stream *in, const struct import_options *options,
                  struct err *err)
{
    *c = (struct chrome){.run = run, .options = options, .last_queue = NONE, .last_thread = NONE};
    c->source = run_add_source(run, stream_path(in), "");
    c->first_op = run->ops.count;
    c->first_span = run->spans.count;
    c->first_sample = run->samples.count;
    c->first_mark = run->marks.count;
    c->first_wait = run->waits.count;
    c->first_device = run->devices.count;
    chrome_event_reader_init(&c->reader);
    chrome_torch_init(c);
    chrome_metadata_init(c);
    struct json_limits limits = {0};
    if (options) {
        limits.max_string_bytes = options->max_string_bytes;
        limits.max_depth = options->max_depth;
    }
    json_open(&c->json, in, &limits, err);
}

static void finish(struct chrome *c)
{
    struct run *run = c->run;
    chrome_generic_finish(c);
    apply_base(c);
    chrome_lane_finish(c);
    chrome_torch_finish(c);
    chrome_metadata_finish(c);
    for (int i = 0; i < JSON_ODD_COUNT; i++) {
        const struct json_odd *odd = &c->json.odd[i];
        if (odd->count)
            run_repair(run, c->source, json_oddity_text((enum json_oddity)i), odd->count, odd->first_offset);
    }
    struct source *source = &run->sources.at[c->source];
    source->format = intern_puts(&run->strings, format_name(c));
    source->bytes = stream_size(c->json.in);
    source->base_ns = c->base_ns;
    chrome_torch_release(c);
    json_close(&c->json);
}

static int chrome_read(struct run *run, struct stream *in, const struct import_options *options,
                       struct err *err)
{
    struct document d = {0};
    begin(&d.chrome, run, in, options, err);
    read_documents(&d);
    int code = json_failed(&d.chrome.json);
    finish(&d.chrome);
    if (code == 0 && !d.truncated && !d.has_events)
        return err_set(err, ERR_INPUT, stream_path(in), -1,
                       _("a Chrome trace holds a list called \"traceEvents\""),
                       _("this JSON has no list of events"));
    return code;
}

static bool head_has(const char *head, size_t length, const char *word)
{
    return memmem(head, length, word, strlen(word)) != NULL;
}

static int chrome_sniff(const char *head, size_t length)
{
    if (length >= 3 && memcmp(head, "\xef\xbb\xbf", 3) == 0) {
        head += 3;
        length -= 3;
    }
    while (length && (*head == ' ' || *head == '\n' || *head == '\r' || *head == '\t')) {
        head++;
        length--;
    }
    if (length == 0 || (*head != '{' && *head != '['))
        return 0;
    if (*head == '[')
        return head_has(head, length, "\"ph\"") ? 80 : 0;
    if (head_has(head, length, "\"traceEvents\""))
        return 90;
    /* much metadata before the events */
    return head_has(head, length, "\"deviceProperties\"") || head_has(head, length, "\"distributedInfo\"")
               ? 70
               : 0;
}

const struct importer import_chrome_json = {
    .name = "chrome",
    .title = N_("Chrome trace JSON: torch.profiler, TensorFlow, XLA and others"),
    .sniff = chrome_sniff,
    .read = chrome_read,
};
