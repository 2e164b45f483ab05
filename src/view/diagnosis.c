/* What doctor found, for people and machines. */
#include <string.h>
#include <time.h>

#include "base/i18n.h"
#include "base/json_write.h"
#include "base/utf8.h"
#include "view/text.h"

enum { INDENT = 2, DETAIL = 4, CODE_WIDTH = 12, DEVICE_WIDTH = 26, COUNT_WIDTH = 8 };

/* ---- text ---------------------------------------------------------------------------------------------- */

static const struct {
    const char *mark; /* msgid */
    enum style style;
} faces[] = {
    [CHECK_OK] = {N_("fine"), STYLE_GOOD},
    [CHECK_WARN] = {N_("look"), STYLE_NOTICE},
    [CHECK_FAIL] = {N_("FAIL"), STYLE_BAD},
    [CHECK_UNKNOWN] = {N_("unknown"), STYLE_DIM},
};

enum { MARK_WIDTH = 9 };

static void put_words(struct screen *s, enum style style, const char *label, struct words words)
{
    if (!words.plain)
        return;
    str_pad(&s->text, ' ', DETAIL);
    struct str text = {0};
    str_addf(&text, "%s%s", label, words.local);
    screen_wrap(s, style, str_text(&text), DETAIL, DETAIL + INDENT);
    str_release(&text);
}

static void put_evidence(struct screen *s, const struct evidence *evidence)
{
    struct str text = {0};
    if (evidence->where)
        str_addf(&text, "%s: ", evidence->where);
    str_puts(&text, evidence->text);
    struct str visible = {0};
    utf8_visible(&visible, str_text(&text), text.len);
    str_pad(&s->text, ' ', DETAIL);
    screen_wrap(s, STYLE_DIM, str_text(&visible), DETAIL, DETAIL + INDENT);
    str_release(&visible);
    str_release(&text);
}

static void put_check(struct screen *s, const struct check *check)
{
    screen_cell(s, faces[check->status].style, _(faces[check->status].mark), MARK_WIDTH - 1, false);
    str_putc(&s->text, ' ');
    struct str title = {0};
    str_addf(&title, "%s  [%s]", check->title.plain ? check->title.local : check->id, check->id);
    screen_wrap(s, check->status == CHECK_OK ? STYLE_PLAIN : STYLE_BOLD, str_text(&title), MARK_WIDTH,
                MARK_WIDTH);
    str_release(&title);
    if (check->status != CHECK_OK)
        put_words(s, STYLE_PLAIN, "", check->meaning);
    vec_each (&check->evidence, evidence)
        put_evidence(s, evidence);
    if (check->evidence_left_out > 0) {
        str_pad(&s->text, ' ', DETAIL);
        screen_printf(s, STYLE_DIM, _("… and %lld more such lines"), (long long)check->evidence_left_out);
        screen_newline(s);
    }
    if (check->status != CHECK_OK) {
        put_words(s, STYLE_PLAIN, _("Now: "), check->action);
        put_words(s, STYLE_PLAIN, _("If it repeats: "), check->if_repeats);
    }
}

static void add_date(struct str *out, int64_t unix_ns)
{
    const int64_t second = 1000000000;
    char date[32] = "";
    struct tm local;
    time_t seconds = (time_t)(unix_ns / second);
    if (localtime_r(&seconds, &local))
        strftime(date, sizeof date, "%Y-%m-%d %H:%M:%S", &local);
    str_puts(out, date);
}

/* "78.6 s", "3:25:45", "10 d 3:25:45" */
static void add_since_boot(struct str *out, int64_t ns)
{
    enum { MINUTE = 60, HOUR = 3600, DAY = 24 * HOUR };
    const int64_t second = 1000000000, tenth = 100000000;
    int64_t seconds = ns / second;
    if (seconds < HOUR) {
        str_addf(out, _("%lld.%lld s"), (long long)seconds, (long long)(ns % second / tenth));
        return;
    }
    if (seconds >= DAY)
        str_addf(out, _("%lld d "), (long long)(seconds / DAY));
    str_addf(out, "%lld:%02lld:%02lld", (long long)(seconds % DAY / HOUR),
             (long long)(seconds % HOUR / MINUTE), (long long)(seconds % MINUTE));
}

/* When it was first and last: the date where it can be known, else what the log prints. */
static void add_times(struct str *out, const struct event *event)
{
    struct str first = {0}, last = {0}, times = {0};
    int64_t since_first = event_since_boot(event->first), since_last = event_since_boot(event->last);
    bool is_dated = event->first_unix_ns != UNKNOWN && event->last_unix_ns != UNKNOWN;
    bool is_counted = !is_dated && since_first != UNKNOWN && since_last != UNKNOWN;
    if (is_dated) {
        add_date(&first, event->first_unix_ns);
        add_date(&last, event->last_unix_ns);
    } else if (is_counted) {
        add_since_boot(&first, since_first);
        add_since_boot(&last, since_last);
    } else {
        str_puts(&first, event->first ? event->first : "");
        str_puts(&last, event->last ? event->last : "");
    }
    str_puts(&times, str_text(&first));
    if (last.len > 0 && strcmp(str_text(&first), str_text(&last)) != 0)
        str_addf(&times, " … %s", str_text(&last));
    if (times.len > 0)
        str_puts(out, "; ");
    if (is_counted)
        str_addf(out, _("%s after boot"), str_text(&times));
    else
        str_puts(out, str_text(&times));
    str_release(&first);
    str_release(&last);
    str_release(&times);
}

static void put_event(struct screen *s, const struct event *event)
{
    struct str text = {0};
    str_pad(&s->text, ' ', INDENT);
    str_addf(&text, "%s %lld", event->is_switch ? "SXid" : "Xid", (long long)event->xid);
    screen_cell(s, event->root ? STYLE_BOLD : STYLE_DIM, str_text(&text), CODE_WIDTH, false);
    screen_cell(s, STYLE_PLAIN, event->device ? event->device : "", DEVICE_WIDTH, false);
    str_cut(&text, 0);
    str_addf(&text, "%lld×  ", (long long)event->count);
    screen_cell(s, STYLE_PLAIN, str_text(&text), COUNT_WIDTH, true);
    str_cut(&text, 0);
    if (!event->root)
        str_puts(&text, _("(follows another) "));
    str_puts(&text, event->meaning.plain ? event->meaning.local : "");
    add_times(&text, event);
    if (event->process) {
        str_puts(&text, "; ");
        str_addf(&text, _("while %s was calling"), event->process);
    }
    struct str visible = {0};
    utf8_visible(&visible, str_text(&text), text.len);
    int column = INDENT + CODE_WIDTH + DEVICE_WIDTH + COUNT_WIDTH;
    screen_wrap(s, event->root ? STYLE_PLAIN : STYLE_DIM, str_text(&visible), column, column);
    str_release(&visible);
    str_release(&text);
}

static void put_sources(struct screen *s, const struct diagnosis *d)
{
    text_heading(s, _("What was read"));
    screen_newline(s);
    vec_each (&d->sources, source)
        put_evidence(s, source);
}

void text_diagnosis(struct screen *s, const struct diagnosis *d)
{
    size_t fails = diagnosis_count(d, CHECK_FAIL), warnings = diagnosis_count(d, CHECK_WARN);
    bool well = fails == 0 && warnings == 0 && (d->checks.count == 0 || diagnosis_count(d, CHECK_OK) > 0);
    if (well) {
        screen_puts(s, STYLE_GOOD, _("Nothing wrong was found."));
        screen_newline(s);
    }
    bool first = true;
    vec_each (&d->checks, check) {
        if (!first || well)
            screen_newline(s);
        first = false;
        put_check(s, check);
    }
    if (d->events.count > 0) {
        text_heading(s, _("Events of the GPUs, in the order in which they began"));
        screen_newline(s);
        vec_each (&d->events, event)
            put_event(s, event);
    }
    if (d->sources.count > 0)
        put_sources(s, d);
}

/* ---- JSON ---------------------------------------------------------------------------------------------- */

static void json_evidence(struct json_writer *w, const struct evidence *evidence)
{
    json_object_begin(w);
    json_key_text(w, "where", evidence->where);
    json_key_text(w, "text", evidence->text);
    json_object_end(w);
}

static void json_check(struct json_writer *w, const struct check *check)
{
    json_object_begin(w);
    json_key_text(w, "id", check->id);
    json_key_text(w, "status", check_status_name(check->status));
    json_key_text(w, "title", check->title.plain);
    json_key_text(w, "meaning", check->meaning.plain);
    json_key(w, "evidence");
    json_array_begin(w);
    vec_each (&check->evidence, evidence)
        json_evidence(w, evidence);
    json_array_end(w);
    json_key(w, "evidence_left_out");
    json_int(w, check->evidence_left_out);
    json_key_text(w, "action", check->action.plain);
    json_key_text(w, "action_if_repeats", check->if_repeats.plain);
    json_key(w, "confidence_ratio");
    json_double(w, check->confidence_ratio);
    json_object_end(w);
}

static void json_event(struct json_writer *w, const struct event *event)
{
    json_object_begin(w);
    json_key(w, event->is_switch ? "sxid" : "xid");
    json_int(w, event->xid);
    json_key_text(w, "device", event->device);
    json_key(w, "count");
    json_int(w, event->count);
    json_key_text(w, "first", event->first);
    json_key_text(w, "last", event->last);
    json_key_int(w, "first_unix_ns", event->first_unix_ns);
    json_key_int(w, "last_unix_ns", event->last_unix_ns);
    json_key_text(w, "process", event->process);
    json_key_text(w, "meaning", event->meaning.plain);
    json_key(w, "root");
    json_bool(w, event->root);
    json_key_text(w, "action_now", event->action_now.plain);
    json_key_text(w, "action_if_repeats", event->action_if_repeats.plain);
    json_key(w, "evidence");
    json_evidence(w, &event->evidence);
    json_object_end(w);
}

void json_diagnosis(FILE *out, const struct diagnosis *d)
{
    struct str text = {0};
    struct json_writer w = {.out = &text, .indent = 2};
    json_object_begin(&w);
    json_key_text(&w, "schema", "warplight.doctor/1");
    json_key(&w, "checks");
    json_array_begin(&w);
    vec_each (&d->checks, check)
        json_check(&w, check);
    json_array_end(&w);
    json_key(&w, "events");
    json_array_begin(&w);
    vec_each (&d->events, event)
        json_event(&w, event);
    json_array_end(&w);
    json_key(&w, "sources");
    json_array_begin(&w);
    vec_each (&d->sources, source)
        json_evidence(&w, source);
    json_array_end(&w);
    json_object_end(&w);
    str_putc(&text, '\n');
    fwrite(text.ptr, 1, text.len, out);
    str_release(&text);
}
