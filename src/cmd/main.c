/* warplight COMMAND: finds the command, parses its options, prints its error. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/i18n.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "cmd/command.h"

/* One line: what, where, why, what to do. Line breaks inside file names must not make two of it. */
static int print_error(const struct cli *cli, const struct err *err)
{
    struct str line = {0};
    str_puts(&line, "warplight: ");
    if (err->where[0])
        str_addf(&line, err->offset >= 0 ? _("%s at byte %lld: ") : "%s: ", err->where,
                 (long long)err->offset);
    str_puts(&line, err->what);
    if (err->hint[0])
        str_addf(&line, ": %s", err->hint);
    struct screen s;
    cli_screen(cli, &s, stderr);
    utf8_visible(&s.text, str_text(&line), line.len);
    screen_newline(&s);
    screen_flush(&s);
    screen_release(&s);
    str_release(&line);
    return -err->code;
}

static int print_version(struct cli *cli, struct err *err)
{
    struct screen s;
    cli_screen(cli, &s, stdout);
    version_print(&s);
    return cli_screen_end(&s, _("standard output"), err);
}

static int print_help(struct cli *cli, struct err *err)
{
    struct screen s;
    cli_screen(cli, &s, stdout);
    if (cli->command)
        help_command(&s, cli->command);
    else
        help_overview(&s);
    return cli_screen_end(&s, _("standard output"), err);
}

static void choose_language(const struct globals *globals)
{
    i18n_set(globals->lang < 0 ? i18n_from_environment() : globals->lang == 1 ? LANG_ZH : LANG_EN);
}

static int check_operands(const struct cli *cli, struct err *err)
{
    const struct command *c = cli->command;
    if (cli->operand_count < c->operands_min)
        return command_missing(c, err);
    if (c->operands_max >= 0 && cli->operand_count > c->operands_max)
        return err_set(err, ERR_USAGE, NULL, -1, NULL, _("'%s' is one word too many"),
                       cli->operands[c->operands_max]);
    return 0;
}

static int run_command(struct cli *cli, int argc, char **argv, struct err *err)
{
    const struct command *c = cli->command;
    static const struct option no_options[] = {OPTION_END};
    void *args = mem_zalloc(1, c->defaults_size ? c->defaults_size : 1);
    if (c->defaults)
        memcpy(args, c->defaults, c->defaults_size);
    struct parse parse = {
        .groups = {{c->options ? c->options : no_options, args}, {global_options, &cli->globals}},
        .stop_at_operand = c->stop_at_operand};
    int rc = options_parse(&parse, argc, argv, err);
    choose_language(&cli->globals);
    cli->operands = parse.operands;
    cli->operand_count = parse.operand_count;
    cli->dashes = parse.dashes;
    if (rc == 0 && cli->globals.help)
        rc = print_help(cli, err);
    else if (rc == 0 && cli->globals.version)
        rc = print_version(cli, err);
    else if (rc == 0 && (rc = check_operands(cli, err)) == 0)
        rc = c->run(cli, args, err);
    if (rc < 0 && err->where[0] == '\0')
        snprintf(err->where, sizeof err->where, "%s", c->name);
    free(args);
    return rc;
}

static int run(struct cli *cli, int argc, char **argv, struct err *err)
{
    struct parse parse = {.groups = {{global_options, &cli->globals}}, .stop_at_operand = true};
    int rc = options_parse(&parse, argc, argv, err);
    choose_language(&cli->globals);
    if (rc < 0)
        return rc;
    if (cli->globals.version)
        return print_version(cli, err);
    if (parse.operand_count == 0)
        return print_help(cli, err);
    /* --help before the command stays set and is obeyed after it. */
    cli->command = command_find(parse.operands[0]);
    if (!cli->command)
        return command_unknown(parse.operands[0], err);
    return run_command(cli, parse.operand_count - 1, parse.operands + 1, err);
}

int main(int argc, char **argv)
{
    signal(SIGPIPE, SIG_IGN); /* a reader that has seen enough is no error: see cli_check_output() */
    struct cli cli = {.globals = {.lang = -1}};
    struct err err = {.offset = -1};
    i18n_set(i18n_from_environment());
    int rc = run(&cli, argc - 1, argv + 1, &err);
    return rc < 0 ? print_error(&cli, &err) : rc;
}
