#include "cmd/explain_search.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/i18n.h"
#include "cmd/pages.h"
#include "cmd/terms.h"
#include "know/know.h"

/* A word weighs most where it is the name. */
enum { IN_NAME = 9, IN_TITLE = 3, IN_TEXT = 1, HITS_SHOWN = 10, WORDS_MAX = 8, WORD_BYTES = 64 };

struct words {
    char at[WORDS_MAX][WORD_BYTES];
    int count;
};

enum hit_kind { HIT_PAGE, HIT_TERM, HIT_SIGN, HIT_XID };

struct hit {
    enum hit_kind kind;
    size_t row;
    int weight;
};

struct hits {
    struct hit best[HITS_SHOWN]; /* heaviest first */
    size_t count;
};

/* Words of a question that name nothing, and single letters. */
static bool is_filler(const char *word)
{
    if (!word[1])
        return true;
    static const char *const fillers[] = {"an", "are", "do",  "does", "how",  "is",
                                          "it", "my",  "the", "what", "when", "why"};
    for (size_t i = 0; i < sizeof fillers / sizeof *fillers; i++)
        if (strcmp(word, fillers[i]) == 0)
            return true;
    return false;
}

/* In lower case; a plural is looked for as its singular. More words than fit are left out. */
static void words_split(struct words *words, const char *asked)
{
    static const char between[] = " -_/,.:;()'\"?!";
    words->count = 0;
    while (words->count < WORDS_MAX && *(asked += strspn(asked, between))) {
        size_t length = strcspn(asked, between);
        char *word = words->at[words->count];
        if (length < WORD_BYTES) {
            for (size_t i = 0; i < length; i++)
                word[i] = (char)tolower((unsigned char)asked[i]);
            word[length] = '\0';
            if (length > 3 && word[length - 1] == 's' && word[length - 2] != 's')
                word[length - 1] = '\0';
            words->count += !is_filler(word);
        }
        asked += length;
    }
}

/* Whether the word begins a word of the text. Chinese has no blanks: there it may stand anywhere. */
static bool has_word(const char *text, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = text; *at; at++) {
        bool inside = at > text && isalnum((unsigned char)at[-1]) && isalnum((unsigned char)*at);
        if (!inside && strncasecmp(at, word, length) == 0)
            return true;
    }
    return false;
}

/* 0: some word is nowhere. */
static int weigh(const struct words *words, const char *name, const char *title, const char *text)
{
    int weight = 0;
    for (int i = 0; i < words->count; i++) {
        const char *word = words->at[i];
        int found = has_word(name, word)    ? IN_NAME
                    : has_word(title, word) ? IN_TITLE
                    : has_word(text, word)  ? IN_TEXT
                                            : 0;
        if (found == 0)
            return 0;
        weight += found;
    }
    return weight;
}

/* Those of equal weight stay in the order of the tables. */
static void hits_add(struct hits *hits, struct hit hit)
{
    size_t at = hits->count;
    while (at > 0 && hits->best[at - 1].weight < hit.weight)
        at--;
    if (hit.weight == 0 || at == HITS_SHOWN)
        return;
    hits->count += hits->count < HITS_SHOWN;
    memmove(hits->best + at + 1, hits->best + at, (hits->count - at - 1) * sizeof *hits->best);
    hits->best[at] = hit;
}

/* The English text, or the Chinese: whichever the words are in. */
static int weigh_both(const struct words *words, const char *name, const char *const english[2],
                      const char *const chinese[2])
{
    int in_english = weigh(words, name, english[0], english[1]);
    int in_chinese = weigh(words, name, chinese[0], chinese[1]);
    return in_english > in_chinese ? in_english : in_chinese;
}

static void look_in_pages(struct hits *hits, const struct words *words)
{
    for (size_t row = 0; pages[row].id; row++) {
        const struct page *page = &pages[row];
        const char *chinese = page->chinese ? page->chinese : "";
        int weight =
            weigh_both(words, page->id, (const char *[]){"", page->english}, (const char *[]){"", chinese});
        hits_add(hits, (struct hit){HIT_PAGE, row, weight});
    }
}

static void look_in_terms(struct hits *hits, const struct words *words)
{
    for (size_t row = 0; terms[row].kind; row++) {
        const struct term *term = &terms[row];
        int weight = weigh_both(words, term->terms, (const char *[]){term->also, term->english},
                                (const char *[]){term->also, term->chinese});
        hits_add(hits, (struct hit){HIT_TERM, row, weight});
    }
}

static void look_in_errors(struct hits *hits, const struct words *words)
{
    for (size_t row = 0; row < know_sign_count; row++) {
        const struct know_sign *sign = &know_signs[row];
        int weight = weigh_both(words, sign->id, (const char *[]){sign->title_en, sign->patterns},
                                (const char *[]){sign->title_zh, sign->why_zh});
        hits_add(hits, (struct hit){HIT_SIGN, row, weight});
    }
    for (size_t row = 0; row < know_xid_count; row++) {
        const struct know_xid *xid = &know_xids[row];
        int weight = weigh_both(words, "xid", (const char *[]){xid->en, xid->more_en},
                                (const char *[]){xid->zh, xid->more_zh});
        hits_add(hits, (struct hit){HIT_XID, row, weight});
    }
}

static void put_line(struct screen *s, const char *name, const char *title, int column)
{
    screen_puts(s, STYLE_BOLD, name);
    int width = screen_columns(name);
    str_pad(&s->text, ' ', width < column - 2 ? (size_t)(column - width) : 2);
    screen_wrap(s, STYLE_PLAIN, title, width < column - 2 ? column : width + 2, column);
}

static void put_hit(struct screen *s, struct hit hit, int column)
{
    bool chinese = i18n_lang() == LANG_ZH;
    struct str text = {0};
    switch (hit.kind) {
    case HIT_PAGE:
        page_title(&text, &pages[hit.row]);
        put_line(s, pages[hit.row].id, str_text(&text), column);
        break;
    case HIT_TERM:
        term_list_line(s, &terms[hit.row], column);
        break;
    case HIT_SIGN:
        put_line(s, know_signs[hit.row].id,
                 chinese ? know_signs[hit.row].title_zh : know_signs[hit.row].title_en, column);
        break;
    case HIT_XID:
        str_addf(&text, "xid %lld", (long long)know_xids[hit.row].code);
        put_line(s, str_text(&text), chinese ? know_xids[hit.row].zh : know_xids[hit.row].en, column);
        break;
    }
    str_release(&text);
}

bool explain_search(struct screen *s, const char *asked, int column)
{
    struct words words;
    struct hits hits = {.count = 0};
    words_split(&words, asked);
    if (words.count == 0)
        return false;
    look_in_pages(&hits, &words);
    look_in_terms(&hits, &words);
    look_in_errors(&hits, &words);
    if (hits.count == 0)
        return false;
    struct str title = {0};
    str_addf(&title, _("Nothing is called '%s'. These speak of it:"), asked);
    screen_wrap(s, STYLE_HEADING, str_text(&title), 0, 0);
    str_release(&title);
    for (size_t i = 0; i < hits.count; i++)
        put_hit(s, hits.best[i], column);
    return true;
}
