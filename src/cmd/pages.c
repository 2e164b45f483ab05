#include "cmd/pages.h"

#include <string.h>

#include "base/i18n.h"
#include "cmd/markdown.h"

static char fold(char c)
{
    if (c == ' ' || c == '_')
        return '-';
    return c >= 'A' && c <= 'Z' ? (char)(c + 'a' - 'A') : c;
}

static bool folded_equal(const char *a, const char *b)
{
    while (*a && fold(*a) == fold(*b)) {
        a++;
        b++;
    }
    return fold(*a) == fold(*b);
}

const struct page *page_find(const char *id)
{
    for (const struct page *page = pages; page->id; page++)
        if (folded_equal(page->id, id))
            return page;
    return NULL;
}

const struct page *page_find_ending(const char *words)
{
    const struct page *found = NULL;
    for (const struct page *page = pages; page->id; page++)
        for (const char *dash = strchr(page->id, '-'); dash; dash = strchr(dash + 1, '-'))
            if (folded_equal(dash + 1, words)) {
                if (found)
                    return NULL;
                found = page;
            }
    return found;
}

const char *page_text(const struct page *page)
{
    return i18n_lang() == LANG_ZH && page->chinese ? page->chinese : page->english;
}

void page_title(struct str *out, const struct page *page)
{
    static const char dash[] = "—";
    const char *text = page_text(page) + strspn(page_text(page), "# \n");
    if (strncmp(text, page->id, strlen(page->id)) == 0) {
        text += strlen(page->id);
        while (*text == ' ' || strncmp(text, dash, strlen(dash)) == 0)
            text += *text == ' ' ? 1 : strlen(dash);
    }
    markdown_strip(out, text, strcspn(text, "\n"));
}
