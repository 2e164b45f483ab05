/* Root before follower. An Xid was judged when it was read (what stood before it, on the same GPU, shortly);
 * a text of a program, which has no place in the kernel's order, is explained by anything on its list that
 * was seen at all. */
#include "analyze/diagnose.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analyze/nvlink.h"
#include "base/i18n.h"
#include "know/know.h"

/* Texts of the tables are already in both languages. */
static struct words table_words(struct diagnosis *d, const char *en, const char *zh)
{
    if (!*en)
        return (struct words){NULL, NULL};
    return (struct words){diagnosis_text(d, en), diagnosis_text(d, know_text(en, zh))};
}

static struct words action_words(struct diagnosis *d, const char *id)
{
    const struct know_action *action = know_action_find(id);
    return action ? table_words(d, action->en, action->zh) : (struct words){NULL, NULL};
}

/* What the tables say of a sighting, in one shape. */
struct facts {
    enum check_status status;
    double confidence_ratio;
    const char *follows;
    struct words title, meaning, action, if_repeats;
};

static enum check_status status_of(const char *name)
{
    return strcmp(name, "ok") == 0 ? CHECK_OK : strcmp(name, "warn") == 0 ? CHECK_WARN : CHECK_FAIL;
}

/* One text after the other; either may have nothing to say. */
static struct words join(struct diagnosis *d, struct words first, struct words more)
{
    if (!first.plain || !more.plain)
        return first.plain ? first : more;
    return (struct words){diagnosis_words(d, "%s %s", first.plain, more.plain).plain,
                          diagnosis_words(d, "%s %s", first.local, more.local).plain};
}

/* What a line says beyond its code. */
static struct words detail_words(struct diagnosis *d, const char *id, const char *line)
{
    if (strcmp(id, "xid-74") == 0)
        return nvlink_words(d, line);
    const struct know_detail *detail = know_detail_find(id, line, strlen(line));
    return detail ? table_words(d, detail->en, detail->zh) : (struct words){NULL, NULL};
}

/* The meaning of the code, and what the lines that are kept say beyond it. */
static struct words with_detail(struct diagnosis *d, struct words meaning, const struct sighting *sighting)
{
    struct words more = {NULL, NULL};
    for (int i = 0; i < sighting->place_count && !more.plain; i++)
        more = detail_words(d, sighting->id, sighting->places[i].text);
    return join(d, meaning, more);
}

static void xid_facts(struct facts *f, struct diagnosis *d, const struct sighting *sighting)
{
    const double sure = 0.9, from_header = 0.6;
    const struct know_xid *xid = know_xid_find(sighting->code);
    if (!xid) {
        f->title = diagnosis_words(d, N_("Xid %lld is newer than this table, or no Xid of NVIDIA's"),
                                   (long long)sighting->code);
        f->action =
            diagnosis_words(d, N_("Look it up in NVIDIA's Xid catalogue: docs.nvidia.com/deploy/xid-errors"));
        f->status = CHECK_UNKNOWN;
        return;
    }
    struct words meaning = table_words(d, xid->en, xid->zh);
    f->title = (struct words){diagnosis_words(d, "Xid %lld: %s", (long long)xid->code, meaning.plain).plain,
                              diagnosis_words(d, "Xid %lld: %s", (long long)xid->code, meaning.local).plain};
    f->meaning = with_detail(d, table_words(d, xid->more_en, xid->more_zh), sighting);
    f->action = action_words(d, xid->now);
    f->if_repeats = action_words(d, xid->repeat);
    f->status = status_of(xid->status);
    f->confidence_ratio = strstr(xid->source, "nverror.h") ? from_header : sure;
    f->follows = xid->follows;
}

static void sxid_facts(struct facts *f, struct diagnosis *d, const struct sighting *sighting)
{
    const double sure = 0.8;
    const struct know_sxid *sxid = know_sxid_find(sighting->code);
    if (!sxid) {
        f->title = diagnosis_words(d, N_("SXid %lld is not in this table"), (long long)sighting->code);
        f->action = diagnosis_words(d, N_("Look it up in NVIDIA's Fabric Manager guide."));
        f->status = CHECK_UNKNOWN;
        return;
    }
    struct words meaning = table_words(d, sxid->en, sxid->zh);
    f->title =
        (struct words){diagnosis_words(d, "SXid %lld: %s", (long long)sxid->code, meaning.plain).plain,
                       diagnosis_words(d, "SXid %lld: %s", (long long)sxid->code, meaning.local).plain};
    f->action = action_words(d, sxid->now);
    f->if_repeats = action_words(d, sxid->repeat);
    f->status = status_of(sxid->status);
    f->confidence_ratio = sure;
}

static void sign_facts(struct facts *f, struct diagnosis *d, const struct sighting *sighting)
{
    const double percent = 100;
    const struct know_sign *sign = know_sign_find(sighting->id);
    if (!sign)
        return;
    f->title = table_words(d, sign->title_en, sign->title_zh);
    f->meaning = table_words(d, sign->why_en, sign->why_zh);
    f->action = table_words(d, sign->do_en, sign->do_zh);
    f->if_repeats = table_words(d, sign->repeat_en, sign->repeat_zh);
    f->status = status_of(sign->status);
    f->confidence_ratio = (double)sign->confidence / percent;
    f->follows = sign->follows;
}

static struct facts facts_of(struct diagnosis *d, const struct sighting *sighting)
{
    struct facts f = {.confidence_ratio = NAN, .follows = ""};
    if (sighting->kind == SIGHTING_XID)
        xid_facts(&f, d, sighting);
    else if (sighting->kind == SIGHTING_SXID)
        sxid_facts(&f, d, sighting);
    else
        sign_facts(&f, d, sighting);
    if ((sighting->is_mild || sighting->is_over) && f.status == CHECK_FAIL)
        f.status = CHECK_WARN;
    if (sighting->is_over)
        f.meaning = join(d, f.meaning,
                         diagnosis_words(d, N_("The GPU has come through it: it answers, and its driver asks "
                                               "for no recovery.")));
    return f;
}

/* ---- roots --------------------------------------------------------------------------------------------- */

/* Whether it was settled when they were read: for Xids always, and for a text of the kernel beside an Xid. */
static bool share_an_order(const struct sighting *a, const struct sighting *b)
{
    return a->kind != SIGHTING_SIGN || (a->in_kernel_log && b->in_kernel_log && b->kind != SIGHTING_SIGN);
}

static bool explains(const struct sighting *other, const struct sighting *sighting, const char *follows)
{
    bool listed = strcmp(follows, "*") == 0 ? other->kind == SIGHTING_XID : know_list_has(follows, other->id);
    return listed && strcmp(other->id, sighting->id) != 0 && !other->is_consequence &&
           (sighting->is_consequence || !share_an_order(sighting, other));
}

/* The sighting that explains this one, one of the same file if there is; NULL: it is a root. */
static const struct sighting *explanation(const struct logbook *book, const struct sighting *sighting,
                                          const char *follows)
{
    const struct sighting *found = NULL;
    vec_each (&book->sightings, other)
        if (explains(other, sighting, follows) &&
            (!found || (found->source != sighting->source && other->source == sighting->source)))
            found = other;
    return found;
}

/* ---- output -------------------------------------------------------------------------------------------- */

static const char *place_text(struct diagnosis *d, const struct place *place)
{
    struct str text = {0};
    str_addf(&text, "%s:%lld", place->file, (long long)place->line);
    const char *kept = diagnosis_text(d, str_text(&text));
    str_release(&text);
    return kept;
}

static int64_t unix_ns(const struct diagnosis *d, const char *time)
{
    int64_t since_boot = event_since_boot(time);
    return d->boot_unix_ns && since_boot != UNKNOWN ? d->boot_unix_ns + since_boot : UNKNOWN;
}

static void add_event(struct diagnosis *d, const struct sighting *sighting, const struct facts *f,
                      bool is_root)
{
    const struct know_xid *xid = sighting->kind == SIGHTING_XID ? know_xid_find(sighting->code) : NULL;
    const struct know_sxid *sxid = sighting->kind == SIGHTING_SXID ? know_sxid_find(sighting->code) : NULL;
    struct event *event = vec_new(&d->events);
    event->xid = sighting->code;
    event->is_switch = sighting->kind == SIGHTING_SXID;
    event->device = sighting->device ? diagnosis_text(d, sighting->device) : NULL;
    event->count = sighting->events.count;
    event->first = sighting->first ? diagnosis_text(d, sighting->first) : NULL;
    event->last = event->count > 1 && sighting->last ? diagnosis_text(d, sighting->last) : event->first;
    event->first_unix_ns = unix_ns(d, event->first);
    event->last_unix_ns = unix_ns(d, event->last);
    event->process = sighting->process ? diagnosis_text(d, sighting->process) : NULL;
    event->meaning = xid    ? table_words(d, xid->en, xid->zh)
                     : sxid ? table_words(d, sxid->en, sxid->zh)
                            : f->title;
    event->root = is_root;
    event->action_now = f->action;
    event->action_if_repeats = f->if_repeats;
    if (sighting->place_count > 0)
        event->evidence = (struct evidence){place_text(d, &sighting->places[0]),
                                            diagnosis_text(d, sighting->places[0].text)};
}

static void add_evidence(struct diagnosis *d, struct check *check, const struct sighting *sighting)
{
    for (int i = 0; i < sighting->place_count; i++)
        diagnosis_evidence(d, check, place_text(d, &sighting->places[i]), sighting->places[i].text);
    check->evidence_left_out += sighting->lines - sighting->place_count;
}

static struct check *find_check(struct diagnosis *d, const char *id)
{
    vec_each (&d->checks, check)
        if (strcmp(check->id, id) == 0)
            return check;
    return NULL;
}

static void add_root(struct diagnosis *d, const struct sighting *sighting, const struct facts *f)
{
    struct check *check = find_check(d, sighting->id);
    if (!check) {
        check = diagnosis_check(d, diagnosis_text(d, sighting->id), f->status, f->confidence_ratio);
        check->title = f->title;
        check->meaning = f->meaning;
        check->action = f->action;
        check->if_repeats = f->if_repeats;
    } else if (f->status == CHECK_FAIL) {
        check->status = CHECK_FAIL; /* one line was not mild */
    }
    add_evidence(d, check, sighting);
}

static void add_sources(struct diagnosis *d, const struct logbook *book)
{
    vec_each (&book->sources, source) {
        struct str text = {0};
        str_addf(&text, i18n_plural(NP_("%lld line: %s", "%lld lines: %s"), source->line),
                 (long long)source->line, source->text);
        struct evidence *evidence = vec_new(&d->sources);
        evidence->where = diagnosis_text(d, source->file);
        evidence->text = diagnosis_text(d, str_text(&text));
        str_release(&text);
    }
}

/* Silence about files that nothing was known in must not read as health. */
static void add_unknown(struct diagnosis *d)
{
    struct check *check = diagnosis_check(d, "input-unknown", CHECK_UNKNOWN, NAN);
    check->title = diagnosis_words(d, N_("Nothing in what was read is known to doctor"));
    check->action = diagnosis_words(d, N_("Give it the kernel log (sudo dmesg), nvidia-smi -q, or the "
                                          "program's message; a recording or trace goes "
                                          "to 'warplight report'."));
    vec_each (&d->sources, source)
        diagnosis_evidence(d, check, source->where, source->text);
}

void diagnose_unread(struct diagnosis *d, const struct err *why)
{
    struct check *check = find_check(d, "input-unread");
    if (!check) {
        check = diagnosis_check(d, "input-unread", CHECK_UNKNOWN, NAN);
        check->title =
            diagnosis_words(d, N_("Some of the files could not be read: the answer is that of the rest"));
    }
    diagnosis_evidence(d, check, why->where, why->what);
}

void diagnose_logbook(struct diagnosis *d, const struct logbook *book)
{
    enum { ALL = LOGBOOK_SIGHTINGS_MAX };
    const struct sighting *roots[ALL];
    for (size_t i = 0; i < book->sightings.count; i++) {
        const struct sighting *sighting = &book->sightings.at[i];
        struct facts f = facts_of(d, sighting);
        roots[i] = explanation(book, sighting, f.follows);
        bool is_root = !sighting->is_consequence && !roots[i];
        if (sighting->kind != SIGHTING_SIGN)
            add_event(d, sighting, &f, is_root);
        if (is_root)
            add_root(d, sighting, &f);
    }
    for (size_t i = 0; i < book->sightings.count; i++) {
        struct check *check = roots[i] ? find_check(d, roots[i]->id) : NULL;
        if (check)
            add_evidence(d, check, &book->sightings.at[i]);
    }
    add_sources(d, book);
    if (book->sources.count > 0 && book->sightings.count == 0 && !book->is_known)
        add_unknown(d);
    diagnosis_sort(d);
}
