/* warplight explain: the manual page of a finding, or what a metric, a term or an error means, in the
 * terminal. */
#include <string.h>

#include "analyze/analyze.h"
#include "base/i18n.h"
#include "base/utf8.h"
#include "cmd/command.h"
#include "cmd/explain_know.h"
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

/* ---- Markdown ------------------------------------------------------------------------------------------ */

/* The subset that the pages use: "# headings", paragraphs, "- lists", "1. lists", "> notes", tables, fenced
 * and indented code. `**`, `*` and `` ` `` marks inside a line are dropped; what they mark reads well
 * without. */
static void strip_marks(struct str *out, const char *line, size_t length)
{
    bool code = false;
    for (size_t i = 0; i < length; i++) {
        if (line[i] == '`') {
            code = !code;
            continue;
        }
        if (!code && line[i] == '*' && i + 1 < length && line[i + 1] == '*') {
            i++;
            continue;
        }
        str_putc(out, line[i]);
    }
}

/* Bytes of the list or quote mark that the line starts with, blanks before and after it included; 0: none. */
static size_t mark_length(const char *line, size_t length)
{
    size_t i = 0;
    while (i < length && line[i] == ' ')
        i++;
    size_t mark = i;
    if (i < length && strchr("-*>", line[i])) {
        i++;
    } else {
        while (i < length && line[i] >= '0' && line[i] <= '9')
            i++;
        if (i == mark || i >= length || line[i++] != '.')
            return 0;
    }
    return i < length && line[i] == ' ' ? i + 1 : 0;
}

struct markdown {
    struct screen *s;
    struct str paragraph; /* gathered lines of running text */
    int indent;           /* of its further lines */
    bool in_code;
};

static void end_paragraph(struct markdown *m)
{
    if (m->paragraph.len == 0)
        return;
    struct str text = {0};
    strip_marks(&text, m->paragraph.ptr, m->paragraph.len);
    screen_wrap(m->s, STYLE_PLAIN, str_text(&text), 0, m->indent);
    str_release(&text);
    str_cut(&m->paragraph, 0);
    m->indent = 0;
}

static void heading(struct markdown *m, const char *line, size_t length)
{
    size_t level = strspn(line, "#");
    struct str text = {0};
    while (level < length && line[level] == ' ')
        level++;
    strip_marks(&text, line + level, length - level);
    screen_wrap(m->s, STYLE_HEADING, str_text(&text), 0, 0);
    str_release(&text);
}

static void verbatim(struct markdown *m, const char *line, size_t length)
{
    struct str text = {0};
    str_add(&text, line, length);
    screen_printf(m->s, STYLE_PLAIN, "%s%s", m->in_code && length ? "    " : "", str_text(&text));
    screen_newline(m->s);
    str_release(&text);
}

/* Joins a line to the paragraph: with a blank, but not between Chinese characters. */
static void add_running(struct markdown *m, const char *line, size_t length)
{
    while (length > 0 && *line == ' ') {
        line++;
        length--;
    }
    size_t used;
    bool wide = length > 0 && utf8_columns(utf8_decode(line, length, &used)) == 2;
    if (m->paragraph.len > 0 && !(wide && (unsigned char)m->paragraph.ptr[m->paragraph.len - 1] >= 0x80))
        str_putc(&m->paragraph, ' ');
    str_add(&m->paragraph, line, length);
}

static void markdown_line(struct markdown *m, const char *line, size_t length)
{
    if (length >= 3 && memcmp(line, "```", 3) == 0) {
        end_paragraph(m);
        m->in_code = !m->in_code;
    } else if (m->in_code) {
        verbatim(m, line, length);
    } else if (length == 0) {
        end_paragraph(m);
        screen_newline(m->s);
    } else if (*line == '#') {
        end_paragraph(m);
        heading(m, line, length);
    } else if (*line == '|' || (length > 4 && memcmp(line, "    ", 4) == 0 && m->paragraph.len == 0)) {
        end_paragraph(m);
        verbatim(m, line, length);
    } else {
        size_t mark = mark_length(line, length);
        if (mark > 0) {
            end_paragraph(m);
            str_add(&m->paragraph, line, length);
            m->indent = (int)mark;
        } else {
            add_running(m, line, length);
        }
    }
}

static void markdown_print(struct screen *s, const char *text)
{
    struct markdown m = {.s = s};
    while (*text) {
        size_t length = strcspn(text, "\n");
        markdown_line(&m, text, length);
        text += length + (text[length] == '\n');
    }
    end_paragraph(&m);
    str_release(&m.paragraph);
}

/* ---- the command --------------------------------------------------------------------------------------- */

static const char *page_text(const struct page *page)
{
    return i18n_lang() == LANG_ZH && page->chinese ? page->chinese : page->english;
}

/* The first heading of a page is "ID — what it is". */
static void page_title(struct str *out, const struct page *page)
{
    const char *text = page_text(page) + strspn(page_text(page), "# \n");
    if (strncmp(text, page->id, strlen(page->id)) == 0) {
        text += strlen(page->id);
        while (*text == ' ' || strncmp(text, "—", strlen("—")) == 0)
            text += *text == ' ' ? 1 : strlen("—");
    }
    strip_marks(out, text, strcspn(text, "\n"));
}

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

/* ---- look-ups: each prints what it knows of asked, or returns false -------------------------------------
 */

static bool page_explain(struct screen *s, const char *asked)
{
    const struct page *page = pages;
    while (page->id && strcmp(page->id, asked) != 0)
        page++;
    if (page->id)
        markdown_print(s, page_text(page));
    return page->id != NULL;
}

static bool term_explain(struct screen *s, const char *asked)
{
    const struct term *term = term_find(asked);
    if (term)
        term_print(s, term, asked);
    return term != NULL;
}

/* The first that knows it answers. */
static bool (*const lookups[])(struct screen *s, const char *asked) = {page_explain, term_explain,
                                                                       know_explain};

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
    int rc = explain(cli, str_text(&asked), err);
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
