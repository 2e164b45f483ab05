/* Entries of the table of terms. */
#include <ctype.h>
#include <string.h>

#include "analyze/metrics.h"
#include "base/i18n.h"
#include "cmd/terms.h"

enum { NAME_BYTES = 128, FORMULAS_SHOWN = 6 };

/* ---- finding ------------------------------------------------------------------------------------------- */

/* Lower case, with '_' for what separates words, without an ellipsis at the end. */
static bool fold(char out[NAME_BYTES], const char *name, size_t length)
{
    static const char ellipsis[] = "…";
    while (length >= 3 &&
           (memcmp(name + length - 3, "...", 3) == 0 || memcmp(name + length - 3, ellipsis, 3) == 0))
        length -= 3;
    if (length == 0 || length >= NAME_BYTES)
        return false;
    for (size_t i = 0; i < length; i++)
        out[i] = strchr(" -/", name[i]) ? '_' : (char)tolower((unsigned char)name[i]);
    out[length] = '\0';
    return true;
}

/* Next word of a list that is separated by blanks; false at its end. */
static bool next_word(const char **list, const char **word, size_t *length)
{
    *list += strspn(*list, " ");
    *word = *list;
    *length = strcspn(*list, " ");
    *list += *length;
    return *length > 0;
}

static bool list_has(const char *list, const char *folded)
{
    const char *word;
    size_t length;
    char other[NAME_BYTES];
    while (next_word(&list, &word, &length))
        if (fold(other, word, length) && strcmp(other, folded) == 0)
            return true;
    return false;
}

static const struct term *find_listed(const char *folded)
{
    for (const struct term *term = terms; term->kind; term++)
        if (list_has(term->terms, folded))
            return term;
    for (const struct term *term = terms; term->kind; term++)
        if (list_has(term->also, folded))
            return term;
    return NULL;
}

static bool is_name_char(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '.';
}

/* "sectors", "Stall Long Scoreboard": what is added to a name in headings. Changes it. */
static const struct term *find_stripped(char *folded)
{
    static const char stall[] = "stall_";
    size_t length = strlen(folded);
    const struct term *term = NULL;
    if (strncmp(folded, stall, strlen(stall)) == 0)
        term = find_listed(folded + strlen(stall));
    if (!term && length > 2 && folded[length - 1] == 's') {
        folded[length - 1] = '\0';
        term = find_listed(folded);
        folded[length - 1] = 's';
    }
    return term;
}

/* Whether a formula names the counter; whole: with its suffix, else up to the first dot. */
static bool formula_names(const char *formula, const char *folded, bool whole)
{
    size_t wanted = whole ? strlen(folded) : strcspn(folded, ".");
    while (*formula) {
        size_t length = 0;
        while (is_name_char(formula[length]))
            length++;
        size_t compared = whole ? length : strcspn(formula, ".") < length ? strcspn(formula, ".") : length;
        if (length > 0 && compared == wanted && strncasecmp(formula, folded, wanted) == 0)
            return true;
        formula += length > 0 ? length : 1;
    }
    return false;
}

static int find_metric(const char *folded)
{
    if (!strpbrk(folded, "_.")) /* a word of the formula, and no counter */
        return -1;
    for (int whole = 1; whole >= 0; whole--)
        for (int id = 0; id < METRIC_COUNT; id++)
            for (const char *const *formula = metric_formulas[id]; formula && *formula; formula++)
                if (formula_names(*formula, folded, whole))
                    return id;
    return -1;
}

/* "smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio", and the sampler's names. */
static int find_stall(const char *folded)
{
    const char *mark = strstr(folded, "issue_stalled_");
    int best = -1;
    if (!mark)
        return -1;
    mark += strlen("issue_stalled_");
    for (int i = 0; i < STALL_COUNT; i++)
        if (strncmp(mark, stall_keys[i], strlen(stall_keys[i])) == 0 &&
            (best < 0 || strlen(stall_keys[i]) > strlen(stall_keys[best])))
            best = i;
    return best;
}

const struct term *term_find(const char *name)
{
    char folded[NAME_BYTES];
    if (!fold(folded, name, strlen(name)))
        return NULL;
    const struct term *term = find_listed(folded);
    if (!term)
        term = find_stripped(folded);
    int stall = term ? -1 : find_stall(folded);
    if (stall >= 0)
        return find_listed(stall_keys[stall]);
    int metric = term ? -1 : find_metric(folded);
    return metric >= 0 ? find_listed(metric_infos[metric].key) : term;
}

void term_suggest(struct suggestion *best, const char *typed)
{
    for (const struct term *term = terms; term->kind; term++) {
        const char *word = term->terms;
        /* The first name stands at the start and is followed by others: it is kept apart where it is alone.
         */
        if (!strchr(word, ' '))
            suggest_offer(best, typed, word);
    }
}

/* ---- printing ------------------------------------------------------------------------------------------ */

static void put_labelled(struct screen *s, const char *label, const char *text)
{
    if (!*text)
        return;
    screen_puts(s, STYLE_BOLD, label);
    int column = screen_columns(label);
    screen_wrap(s, STYLE_PLAIN, text, column, 4);
}

static const char *kind_title(const struct term *term)
{
    switch (*term->kind) {
    case 'm':
        return N_("metric");
    case 's':
        return N_("reason to wait");
    default:
        return N_("term");
    }
}

static const char *unit_title(enum metric_unit unit)
{
    static const char *const titles[] = {
        [IN_NUMBER] = N_("a number"),
        [IN_COUNT] = N_("a count, of one launch"),
        [IN_RATIO] = N_("a share, 0 to 1"),
        [IN_NS] = N_("nanoseconds"),
        [IN_BYTES] = N_("bytes, of one launch"),
        [IN_BYTES_PER_S] = N_("bytes per second"),
        [IN_HZ] = N_("hertz"),
    };
    return titles[unit];
}

static int metric_by_key(const char *key, size_t length)
{
    for (int id = 0; id < METRIC_COUNT; id++)
        if (strlen(metric_infos[id].key) == length && memcmp(metric_infos[id].key, key, length) == 0)
            return id;
    return -1;
}

/* The metric of the entry that was asked for; the first one where that is not to be told. */
static int metric_meant(const struct term *term, const char *name)
{
    char folded[NAME_BYTES];
    const char *list = term->terms, *word;
    size_t length;
    int first = -1;
    if (!fold(folded, name, strlen(name)))
        return -1;
    int by_counter = find_metric(folded);
    while (next_word(&list, &word, &length)) {
        int id = metric_by_key(word, length);
        if (first < 0)
            first = id;
        if (id >= 0 && (id == by_counter || strcmp(metric_infos[id].key, folded) == 0))
            return id;
    }
    return first;
}

static void put_counters(struct screen *s, const struct term *term, const char *name)
{
    int id = metric_meant(term, name);
    if (id < 0)
        return;
    struct str text = {0};
    put_labelled(s, _("Unit: "), _(unit_title(metric_infos[id].unit)));
    int shown = 0;
    for (const char *const *formula = metric_formulas[id]; formula && *formula && shown < FORMULAS_SHOWN;
         formula++)
        if (strchr(*formula, '\'') == NULL) {
            str_cut(&text, 0);
            str_puts(&text, *formula);
            put_labelled(s, shown++ ? "    " : _("In other tools: "), str_text(&text));
        }
    str_release(&text);
}

static void put_stall_names(struct screen *s, const struct term *term)
{
    struct str text = {0};
    str_addf(&text, "smsp__average_warps_issue_stalled_%s_per_issue_active.ratio", term->terms);
    if (*term->also)
        str_addf(&text, "; %s", term->also);
    put_labelled(s, _("In other tools: "), str_text(&text));
    str_release(&text);
}

static void first_name(struct str *out, const struct term *term)
{
    str_add(out, term->terms, strcspn(term->terms, " "));
}

/* Other names; those in Chinese only for who reads it. */
static void put_other_names(struct screen *s, const struct term *term)
{
    struct str names = {0};
    const char *list = term->also, *word;
    size_t length;
    while (next_word(&list, &word, &length))
        if (i18n_lang() == LANG_ZH || (unsigned char)*word < 0x80) {
            str_puts(&names, names.len ? " " : "");
            str_add(&names, word, length);
        }
    put_labelled(s, _("Also called: "), str_text(&names));
    str_release(&names);
}

void term_print(struct screen *s, const struct term *term, const char *name)
{
    bool chinese = i18n_lang() == LANG_ZH;
    struct str text = {0};
    int metric = *term->kind == 'm' ? metric_meant(term, name) : -1;
    if (metric >= 0)
        str_puts(&text, metric_infos[metric].key);
    else
        first_name(&text, term);
    screen_puts(s, STYLE_HEADING, str_text(&text));
    screen_printf(s, STYLE_DIM, " — %s", _(kind_title(term)));
    screen_newline(s);
    screen_newline(s);
    screen_wrap(s, STYLE_PLAIN, chinese ? term->chinese : term->english, 0, 0);
    const char *action = chinese ? term->chinese_action : term->english_action;
    if (*action) {
        str_cut(&text, 0);
        str_addf(&text, "→ %s", action);
        screen_wrap(s, STYLE_PLAIN, str_text(&text), 0, 2);
    }
    screen_newline(s);
    put_labelled(s, _("Formula: "), chinese ? term->chinese_formula : term->formula);
    if (*term->kind == 'm')
        put_counters(s, term, name);
    else if (*term->kind == 's')
        put_stall_names(s, term);
    if (*term->kind != 's')
        put_other_names(s, term);
    if (*term->kind == 'm' && strchr(term->terms, ' '))
        put_labelled(s, _("With it: "), strchr(term->terms, ' ') + 1);
    str_release(&text);
}

void term_list_line(struct screen *s, const struct term *term, int column)
{
    const char *text = i18n_lang() == LANG_ZH ? term->chinese : term->english;
    const char *end = strstr(text, i18n_lang() == LANG_ZH ? "。" : ". ");
    struct str name = {0}, meaning = {0};
    first_name(&name, term);
    str_add(&meaning, text, end ? (size_t)(end - text) : strlen(text));
    screen_puts(s, STYLE_BOLD, str_text(&name));
    int width = screen_columns(str_text(&name));
    str_pad(&s->text, ' ', width < column - 2 ? (size_t)(column - width) : 2);
    screen_wrap(s, STYLE_PLAIN, str_text(&meaning), width < column - 2 ? column : width + 2, column);
    str_release(&name);
    str_release(&meaning);
}
