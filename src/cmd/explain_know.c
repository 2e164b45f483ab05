#include "cmd/explain_know.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/i18n.h"
#include "know/know.h"

enum { ASKED_MAX = 512, SHORTEST_TEXT = 4, CODE_DIGITS = 6, INDENT = 2 };

/* The question in pieces: "XID 79" is the word xid and the number 79. */
struct question {
    const char *text;
    char lowered[ASKED_MAX];       /* the beginning of the text in lower case */
    size_t length;                 /* of that */
    char word[16];                 /* in lower case; "" if there is none before the number */
    int64_t number;                /* -1: none */
    const struct know_sign *shown; /* printed already, as a part of another entry */
};

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c + 'a' - 'A') : c;
}

static void question_parse(struct question *q, const char *text)
{
    size_t used = 0;
    const char *at = text;
    *q = (struct question){.text = text, .number = -1};
    for (; *at && strchr(" -_.", *at) == NULL && (*at < '0' || *at > '9') && used + 1 < sizeof q->word; at++)
        q->word[used++] = lower(*at);
    q->word[used] = '\0';
    at += strspn(at, " -_#");
    size_t digits = strspn(at, "0123456789");
    if (digits > 0 && digits <= CODE_DIGITS && at[digits] == '\0')
        q->number = strtoll(at, NULL, 10);
    for (; text[q->length] && q->length + 1 < sizeof q->lowered; q->length++)
        q->lowered[q->length] = lower(text[q->length]);
    q->lowered[q->length] = '\0';
}

static bool in_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

/* Whether whole words of the text are the piece; both in lower case. */
static bool holds_words(const char *text, size_t length, const char *piece, size_t size)
{
    const char *end = text + length, *at = text;
    while ((at = memmem(at, (size_t)(end - at), piece, size))) {
        if ((at == text || !in_word(at[-1]) || !in_word(*at)) &&
            (at + size == end || !in_word(at[size]) || !in_word(at[size - 1])))
            return true;
        at++;
    }
    return false;
}

/* The question is a pasted message that holds the text, or a piece of it of several words, or all of it. */
static bool means_text(const struct question *q, const char *text)
{
    char lowered[ASKED_MAX];
    size_t size = strlen(text);
    if (size < SHORTEST_TEXT || size >= sizeof lowered || q->length < SHORTEST_TEXT)
        return false;
    for (size_t i = 0; i < size; i++)
        lowered[i] = lower(text[i]);
    if (strchr(text, ' ') && holds_words(q->lowered, q->length, lowered, size))
        return true;
    return (strchr(q->text, ' ') || q->length == size) && holds_words(lowered, size, q->lowered, q->length);
}

static bool asks(const struct question *q, const char *const *words)
{
    if (q->number < 0)
        return false;
    for (; *words; words++)
        if (strcmp(q->word, *words) == 0)
            return true;
    return false;
}

/* ---- printing ------------------------------------------------------------------------------------------ */

static void put(struct screen *s, enum style style, const char *label, const char *text)
{
    if (!*text)
        return;
    struct str line = {0};
    str_addf(&line, "%s%s", label, text);
    screen_wrap(s, style, str_text(&line), 0, *label ? INDENT : 0);
    str_release(&line);
}

/* The entries of one answer are apart by a blank line. */
static void put_heading(struct screen *s, const char *name, const char *title)
{
    if (s->text.len > 0)
        screen_newline(s);
    struct str line = {0};
    str_addf(&line, "%s — %s", name, title);
    screen_wrap(s, STYLE_HEADING, str_text(&line), 0, 0);
    str_release(&line);
}

static void put_source(struct screen *s, const char *source, const char *date)
{
    struct str line = {0};
    str_addf(&line, "%s (%s)", source, date);
    put(s, STYLE_DIM, _("Source: "), str_text(&line));
    str_release(&line);
}

static void put_actions(struct screen *s, const char *now, const char *repeat)
{
    const struct know_action *first = know_action_find(now), *then = know_action_find(repeat);
    put(s, STYLE_PLAIN, _("Now: "), first ? know_text(first->en, first->zh) : "");
    put(s, STYLE_PLAIN, _("If it repeats: "), then ? know_text(then->en, then->zh) : "");
}

static void put_xid(struct screen *s, const struct know_xid *xid)
{
    struct str name = {0};
    str_addf(&name, "Xid %lld", (long long)xid->code);
    put_heading(s, str_text(&name), know_text(xid->en, xid->zh));
    put(s, STYLE_PLAIN, "", know_text(xid->more_en, xid->more_zh));
    put_actions(s, xid->now, xid->repeat);
    put(s, STYLE_PLAIN, _("Only a consequence after: "),
        strcmp(xid->follows, "*") ? xid->follows : _("any other Xid"));
    put_source(s, xid->source, xid->date);
    str_release(&name);
}

static void put_sign(struct screen *s, const struct know_sign *sign)
{
    put_heading(s, sign->id, know_text(sign->title_en, sign->title_zh));
    put(s, STYLE_PLAIN, "", know_text(sign->why_en, sign->why_zh));
    put(s, STYLE_PLAIN, _("Now: "), know_text(sign->do_en, sign->do_zh));
    put(s, STYLE_PLAIN, _("If it repeats: "), know_text(sign->repeat_en, sign->repeat_zh));
    put(s, STYLE_DIM, _("Known by: "), sign->patterns);
    put_source(s, sign->source, sign->date);
}

/* ---- look-ups ------------------------------------------------------------------------------------------ */

static const char *const xid_words[] = {"", "xid", NULL};
static const char *const maybe_xid_words[] = {"error", "code", NULL}; /* where others are meant first */
static const char *const sxid_words[] = {"", "sxid", NULL};
static const char *const cuda_words[] = {"", "error", "cuda", "cudaerror", NULL};

/* The number in a line of the kernel log: "NVRM: Xid (PCI:0000:01:00): 79, pid=…". NULL: none that is known.
 */
static const struct know_xid *xid_of_line(const char *lowered)
{
    const char *at = strstr(lowered, "xid (");
    at = at ? strchr(at, ')') : NULL;
    if (!at)
        return NULL;
    at += 1 + strspn(at + 1, ": ");
    size_t digits = strspn(at, "0123456789");
    return digits > 0 && digits <= CODE_DIGITS ? know_xid_find(strtoll(at, NULL, 10)) : NULL;
}

static bool explain_xid(struct screen *s, struct question *q)
{
    const struct know_xid *xid = asks(q, xid_words) ? know_xid_find(q->number) : xid_of_line(q->lowered);
    for (size_t i = 0; i < know_xid_count && !xid; i++)
        if (means_text(q, know_xids[i].en) || means_text(q, know_xids[i].zh))
            xid = &know_xids[i];
    if (xid)
        put_xid(s, xid);
    else if (strcmp(q->word, "xid") == 0 && q->number >= 0)
        put_heading(s, q->text, _("newer than this table, or no Xid: see docs.nvidia.com/deploy/xid-errors"));
    else
        return false;
    return true;
}

static bool explain_maybe_xid(struct screen *s, struct question *q)
{
    const struct know_xid *xid = asks(q, maybe_xid_words) ? know_xid_find(q->number) : NULL;
    if (xid)
        put_xid(s, xid);
    return xid != NULL;
}

static bool explain_sxid(struct screen *s, struct question *q)
{
    const struct know_sxid *sxid = asks(q, sxid_words) ? know_sxid_find(q->number) : NULL;
    if (!sxid)
        return false;
    struct str name = {0};
    str_addf(&name, "SXid %lld", (long long)sxid->code);
    put_heading(s, str_text(&name), know_text(sxid->en, sxid->zh));
    put_actions(s, sxid->now, sxid->repeat);
    put_source(s, sxid->source, sxid->date);
    str_release(&name);
    return true;
}

static void put_error(struct screen *s, struct question *q, const struct know_error *error)
{
    struct str name = {0};
    str_addf(&name, "CUDA %lld, %s", (long long)error->code, error->runtime_name);
    put_heading(s, str_text(&name), error->text);
    q->shown = know_sign_find(error->sign);
    if (q->shown)
        put_sign(s, q->shown);
    else
        put_source(s, error->source, error->date);
    str_release(&name);
}

static bool explain_cuda_error(struct screen *s, struct question *q)
{
    const struct know_error *error = asks(q, cuda_words) ? know_error_find(q->number) : NULL;
    for (size_t i = 0; i < know_error_count && !error; i++)
        if (strcasecmp(q->text, know_errors[i].runtime_name) == 0 ||
            strcasecmp(q->text, know_errors[i].driver_name) == 0 || means_text(q, know_errors[i].text))
            error = &know_errors[i];
    if (error)
        put_error(s, q, error);
    return error != NULL;
}

/* "NCCL timeout" is nccl-timeout. */
static bool is_id(const char *id, const char *lowered)
{
    while (*id && (*id == *lowered || (*id == '-' && (*lowered == ' ' || *lowered == '_')))) {
        id++;
        lowered++;
    }
    return *id == '\0' && *lowered == '\0';
}

/* By its id, or by one of its patterns. */
static bool means_sign(const struct question *q, const struct know_sign *sign)
{
    const char *list = sign->patterns, *pattern;
    size_t size;
    char text[ASKED_MAX];
    if (is_id(sign->id, q->lowered))
        return true;
    while (q->length >= SHORTEST_TEXT && know_pattern_next(&list, &pattern, &size)) {
        if (size >= sizeof text)
            continue;
        for (size_t i = 0; i < size; i++)
            text[i] = lower(pattern[i]);
        text[size] = '\0';
        if (know_pattern_matches(text, size, q->lowered, q->length) || means_text(q, text))
            return true;
    }
    return false;
}

static bool explain_text(struct screen *s, struct question *q)
{
    bool any = false;
    for (size_t i = 0; i < know_sign_count; i++)
        if (&know_signs[i] != q->shown && means_sign(q, &know_signs[i])) {
            put_sign(s, &know_signs[i]);
            any = true;
        }
    return any;
}

static bool explain_throttle(struct screen *s, struct question *q)
{
    for (size_t i = 0; i < know_throttle_count; i++) {
        const struct know_throttle *throttle = &know_throttles[i];
        const struct know_sign *sign = know_sign_find(throttle->sign);
        if (strcasecmp(q->text, throttle->key) != 0)
            continue;
        put_heading(s, throttle->key, know_text(throttle->en, throttle->zh));
        if (sign)
            put_sign(s, sign);
        else
            put_source(s, throttle->source, throttle->date);
        return true;
    }
    return false;
}

static bool explain_toolkit(struct screen *s, struct question *q)
{
    for (size_t i = 0; i < know_cuda_count; i++) {
        const struct know_cuda *cuda = &know_cudas[i];
        if (strncasecmp(q->text, "cuda ", 5) != 0 || strcmp(q->text + 5, cuda->cuda) != 0)
            continue;
        put_heading(s, q->text, _("the drivers that it needs"));
        put(s, STYLE_PLAIN, _("Linux, all features: "), cuda->linux_exact);
        put(s, STYLE_PLAIN, _("Linux, by minor version compatibility: "), cuda->linux_any_minor);
        put(s, STYLE_PLAIN, _("Windows, all features: "), cuda->windows_exact);
        put(s, STYLE_PLAIN, _("Windows, by minor version compatibility: "), cuda->windows_any_minor);
        put_source(s, cuda->source, cuda->date);
        return true;
    }
    return false;
}

/* "sm_90", "compute_90", "cc 9.0" */
static bool is_capability(const char *text, const char *cc)
{
    const char *prefix = strncasecmp(text, "cc ", 3) == 0 ? text + 3 : NULL;
    if (prefix)
        return strcmp(prefix, cc) == 0;
    prefix = strncasecmp(text, "sm_", 3) == 0        ? text + 3
             : strncasecmp(text, "compute_", 8) == 0 ? text + 8
                                                     : NULL;
    const char *dot = strchr(cc, '.');
    size_t major = dot ? (size_t)(dot - cc) : 0;
    return prefix && dot && strncmp(prefix, cc, major) == 0 && strcmp(prefix + major, dot + 1) == 0;
}

static bool explain_capability(struct screen *s, struct question *q)
{
    for (size_t i = 0; i < know_cc_count; i++) {
        const struct know_cc *cc = &know_ccs[i];
        if (!is_capability(q->text, cc->cc))
            continue;
        put_heading(s, q->text, cc->architecture);
        put(s, STYLE_PLAIN, _("GPUs: "), cc->gpus);
        put(s, STYLE_PLAIN, _("First CUDA: "), cc->first_cuda);
        put(s, STYLE_PLAIN, _("Last CUDA: "), cc->last_cuda);
        put(s, STYLE_PLAIN, _("Last driver branch: "), cc->last_driver);
        put_source(s, cc->source, cc->date);
        return true;
    }
    return false;
}

bool know_explain(struct screen *s, const char *asked)
{
    static bool (*const lookups[])(struct screen *, struct question *) = {
        explain_xid,      explain_sxid,    explain_cuda_error, explain_text,
        explain_throttle, explain_toolkit, explain_capability, explain_maybe_xid,
    };
    struct question q;
    bool any = false;
    question_parse(&q, asked);
    for (size_t i = 0; i < sizeof lookups / sizeof *lookups; i++)
        any |= lookups[i](s, &q);
    return any;
}
