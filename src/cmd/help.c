/* Help, generated from the command and option tables. */
#include "cmd/command.h"

#include <sqlite3.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#include "base/i18n.h"
#include "base/str.h"

enum { INDENT = 2, OPTION_COLUMN = 29, COMMAND_COLUMN = 14 };

static const struct exit_code common_exit_codes[] = {
    {0, N_("everything went well")},
    {2, N_("the command line is wrong")},
    {3, N_("an input cannot be read or understood")},
    {4, N_("no permission, no space, no such device")},
    {5, N_("a bug in Warplight")},
    {0, NULL},
};

static void heading(struct screen *s, const char *text)
{
    screen_newline(s);
    screen_puts(s, STYLE_HEADING, text);
    screen_newline(s);
}

/* A term at the left, its explanation wrapped in a column of its own. */
static void entry(struct screen *s, const char *term, const char *text, int column)
{
    str_pad(&s->text, ' ', INDENT);
    screen_puts(s, STYLE_BOLD, term);
    int used = INDENT + screen_columns(term);
    if (used + 2 > column) {
        screen_newline(s);
        used = 0;
    }
    str_pad(&s->text, ' ', (size_t)(column - used));
    screen_wrap(s, STYLE_PLAIN, text, column, column);
}

static void help_options(struct screen *s, const struct option *options)
{
    struct str term = {0};
    for (const struct option *o = options; o && o->name; o++) {
        str_cut(&term, 0);
        if (o->letter)
            str_addf(&term, "-%c, ", o->letter);
        else
            str_puts(&term, "    ");
        str_addf(&term, "--%s", o->name);
        if (o->argument)
            str_addf(&term, " %s", _(o->argument));
        entry(s, str_text(&term), _(o->help), OPTION_COLUMN);
    }
    str_release(&term);
}

static void help_examples(struct screen *s, const struct example *examples)
{
    for (const struct example *e = examples; e && e->line; e++) {
        str_pad(&s->text, ' ', INDENT);
        screen_puts(s, STYLE_BOLD, e->line);
        screen_newline(s);
        str_pad(&s->text, ' ', INDENT * 3);
        screen_wrap(s, STYLE_PLAIN, _(e->meaning), INDENT * 3, INDENT * 3);
    }
}

static const struct exit_code *find_code(const struct exit_code *codes, int code)
{
    for (; codes && codes->meaning; codes++)
        if (codes->code == code)
            return codes;
    return NULL;
}

static void help_exit_codes(struct screen *s, const struct exit_code *own)
{
    for (int code = 0; code <= 5; code++) {
        const struct exit_code *e = find_code(own, code);
        e = e ? e : find_code(common_exit_codes, code);
        if (!e)
            continue;
        char term[8] = {(char)('0' + code)};
        entry(s, term, _(e->meaning), INDENT + 3);
    }
}

static void help_see_also(struct screen *s, const char *const *names)
{
    if (!names || !names[0])
        return;
    heading(s, _("See also:"));
    for (; *names; names++) {
        const struct command *c = command_find(*names);
        if (c)
            entry(s, c->name, _(c->summary), COMMAND_COLUMN);
    }
}

void help_command(struct screen *s, const struct command *c)
{
    screen_puts(s, STYLE_HEADING, _("Usage: "));
    screen_printf(s, STYLE_PLAIN, "warplight %s %s%s", c->name, _("[OPTION]…"), c->synopsis ? " " : "");
    screen_puts(s, STYLE_PLAIN, c->synopsis ? _(c->synopsis) : "");
    screen_newline(s);
    screen_newline(s);
    screen_wrap(s, STYLE_PLAIN, _(c->description), 0, 0);
    if (c->options) {
        heading(s, _("Options:"));
        help_options(s, c->options);
    }
    heading(s, _("Options of every command:"));
    help_options(s, global_options);
    if (c->examples) {
        heading(s, _("Examples:"));
        help_examples(s, c->examples);
    }
    heading(s, _("Exit codes:"));
    help_exit_codes(s, c->exit_codes);
    help_see_also(s, c->see_also);
}

void help_overview(struct screen *s)
{
    screen_puts(s, STYLE_HEADING, _("Usage: "));
    screen_printf(s, STYLE_PLAIN, "warplight %s", _("COMMAND [OPTION]…"));
    screen_newline(s);
    screen_newline(s);
    screen_wrap(s, STYLE_PLAIN, _("What is the GPU really doing, why, and what should change?"), 0, 0);
    heading(s, _("Commands:"));
    for (size_t i = 0; commands[i]; i++)
        entry(s, commands[i]->name, _(commands[i]->summary), COMMAND_COLUMN);
    heading(s, _("Options of every command:"));
    help_options(s, global_options);
    heading(s, _("Start here:"));
    static const struct example start[] = {
        {"warplight report trace.json.gz", N_("say where the GPU's time went, and what to change")},
        {"warplight help report", N_("all about one command")},
        {NULL, NULL},
    };
    help_examples(s, start);
}

void version_print(struct screen *s)
{
    screen_printf(s, STYLE_PLAIN, "warplight %s\n", WARPLIGHT_VERSION);
    screen_printf(s, STYLE_PLAIN, "zlib %s, zstd %s, SQLite %s\n", zlibVersion(), ZSTD_versionString(),
                  sqlite3_libversion());
}

/* ---- warplight help ------------------------------------------------------------------------------------ */

static int run_help(struct cli *cli, const void *args, struct err *err)
{
    (void)args;
    const struct command *about = NULL;
    if (cli->operand_count > 0) {
        about = command_find(cli->operands[0]);
        if (!about)
            return command_unknown(cli->operands[0], err);
    }
    struct screen s;
    cli_screen(cli, &s, stdout);
    if (about)
        help_command(&s, about);
    else
        help_overview(&s);
    return cli_screen_end(&s, _("standard output"), err);
}

const struct command command_help = {
    .name = "help",
    .synopsis = N_("[COMMAND]"),
    .summary = N_("explain a command and its options"),
    .description = N_("Shows the commands, or everything about one of them."),
    .operand_kind = OPERAND_COMMAND,
    .operands_max = 1,
    .run = run_help,
};
