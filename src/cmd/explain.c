/* warplight explain: the manual page of a finding, or what a metric, a term or an error means, in the
 * terminal. */
#include <string.h>

#include "analyze/analyze.h"
#include "base/i18n.h"
#include "cmd/command.h"
#include "cmd/explain_know.h"
#include "cmd/explain_search.h"
#include "cmd/markdown.h"
#include "cmd/pages.h"
#include "cmd/suggest.h"
#include "cmd/terms.h"

enum { LIST_COLUMN = 30, TEXT_WIDTH = 100 };

struct explain_args {
    bool list;
};

static const struct option options[] = {
    {"list", 'l', OPTION_FLAG, NULL, N_("list what can be explained"), offsetof(struct explain_args, list),
     NULL},
    OPTION_END,
};

static int list_pages(const struct cli *cli, struct err *err)
{
    struct screen s;
    cli_screen(cli, &s, stdout);
    struct str title = {0};
    for (const struct page *page = pages; page->id; page++) {
        str_cut(&title, 0);
        page_title(&title, page);
        screen_cell(&s, STYLE_BOLD, page->id, LIST_COLUMN - 2, false);
        str_pad(&s.text, ' ', 2);
        screen_wrap(&s, STYLE_PLAIN, str_text(&title), LIST_COLUMN, LIST_COLUMN);
    }
    str_release(&title);
    screen_newline(&s);
    for (const struct term *term = terms; term->kind; term++)
        term_list_line(&s, term, LIST_COLUMN);
    return cli_screen_end(&s, _("standard output"), err);
}

static int no_page(const char *term, struct err *err)
{
    struct suggestion best = {0};
    for (const struct page *page = pages; page->id; page++)
        suggest_offer(&best, term, page->id);
    term_suggest(&best, term);
    struct str hint = {0};
    if (best.text)
        str_addf(&hint, _("did you mean '%s'?"), best.text);
    else
        str_puts(&hint, _("'warplight explain --list' lists the terms"));
    int rc = err_set(err, ERR_USAGE, NULL, -1, str_text(&hint), _("there is no page about '%s'"), term);
    str_release(&hint);
    return rc;
}

/* Look-ups: each prints what it knows of asked, or returns false. */

static bool print_page(struct screen *s, const struct page *page)
{
    if (page)
        markdown_print(s, page_text(page));
    return page != NULL;
}

static bool page_explain(struct screen *s, const char *asked)
{
    return print_page(s, page_find(asked));
}

/* "launch bound", "uncoalesced": the end of the id of one finding. */
static bool page_ending_explain(struct screen *s, const char *asked)
{
    return print_page(s, page_find_ending(asked));
}

static bool term_explain(struct screen *s, const char *asked)
{
    const struct term *term = term_find(asked);
    if (term)
        term_print(s, term, asked);
    return term != NULL;
}

static bool list_explain(struct screen *s, const char *asked)
{
    return explain_search(s, asked, LIST_COLUMN);
}

/* The first that knows it answers. */
static bool (*const lookups[])(struct screen *s, const char *asked) = {
    page_explain, term_explain, know_explain, page_ending_explain, list_explain,
};

static int explain(const struct cli *cli, const char *asked, struct err *err)
{
    struct screen s;
    cli_screen(cli, &s, stdout);
    s.width = s.width > TEXT_WIDTH ? TEXT_WIDTH : s.width; /* longer lines are hard to read */
    for (size_t i = 0; i < sizeof lookups / sizeof *lookups; i++)
        if (lookups[i](&s, asked))
            return cli_screen_end(&s, _("standard output"), err);
    screen_release(&s);
    return no_page(asked, err);
}

static int run_explain(struct cli *cli, const void *values, struct err *err)
{
    const struct explain_args *args = values;
    if (args->list)
        return list_pages(cli, err);
    if (cli->operand_count == 0)
        return command_missing(cli->command, err);
    struct str asked = {0};
    for (int i = 0; i < cli->operand_count; i++) /* "bank conflict" need not be quoted */
        str_addf(&asked, "%s%s", i ? " " : "", cli->operands[i]);
    int rc = asked.len ? explain(cli, str_text(&asked), err) : command_missing(cli->command, err);
    str_release(&asked);
    return rc;
}

static const struct example examples[] = {
    {"warplight explain idle-launch-bound", N_("what the finding means, how it is measured, what to do")},
    {"warplight explain gld_efficiency", N_("a metric, by its name in any tool")},
    {"warplight explain long_scoreboard", N_("a reason for which warps wait")},
    {"warplight explain occupancy", N_("a term")},
    {"warplight explain xid 79", N_("an error of the kernel log")},
    {"warplight explain \"no kernel image\"", N_("a message of CUDA, PyTorch, NCCL or the driver")},
    {"warplight explain --list", N_("everything that can be explained")},
    {NULL, NULL},
};

static const char *const see_also[] = {"report", "doctor", NULL};

const struct command command_explain = {
    .name = "explain",
    .synopsis = N_("TERM"),
    .summary = N_("explain a finding, an error, a metric or a term: what it means and what to do"),
    .description = N_(
        "Shows the manual page of a finding: what it means, how it is measured, what usually causes it "
        "and what to do about it; or what a metric of a kernel, a reason to wait or a term means, with its "
        "formula, its unit and its names in other tools; or an error: an Xid, a message, a number of CUDA."),
    .options = options,
    .defaults_size = sizeof(struct explain_args),
    .operand_kind = OPERAND_PAGE,
    .operands_max = -1,
    .examples = examples,
    .see_also = see_also,
    .run = run_explain,
};
