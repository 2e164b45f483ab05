/* warplight completion: scripts that let a shell complete commands, options, choices and findings; generated
 * from the command and option tables. */
#include <string.h>

#include "base/i18n.h"
#include "base/str.h"
#include "cmd/command.h"
#include "cmd/pages.h"
#include "cmd/suggest.h"
#include "source/control.h"

/* Help is shown beside each word: its first line, with what the shell would interpret taken out. */
static void add_help(struct str *out, const char *text, const char *without)
{
    for (const char *p = _(text); *p && *p != '\n'; p++)
        if (!strchr(without, *p))
            str_putc(out, *p);
}

static void add_choices(struct str *out, const char *const *choices)
{
    for (size_t i = 0; choices[i]; i++)
        str_addf(out, "%s%s", i ? " " : "", choices[i]);
}

static void add_pages(struct str *out)
{
    for (const struct page *page = pages; page->id; page++)
        str_addf(out, "%s%s", page == pages ? "" : " ", page->id);
}

static void add_commands(struct str *out)
{
    for (size_t i = 0; commands[i]; i++)
        str_addf(out, "%s%s", i ? " " : "", commands[i]->name);
}

/* Words for an operand; nothing where files are meant: there the shells' own completion serves. */
static void add_operands(struct str *out, enum operand_kind kind)
{
    if (kind == OPERAND_COMMAND)
        add_commands(out);
    else if (kind == OPERAND_PAGE)
        add_pages(out);
    else if (kind == OPERAND_SHELL)
        str_puts(out, "bash zsh fish");
    else if (kind == OPERAND_VERB)
        for (int verb = CONTROL_NONE + 1; verb < CONTROL_VERBS; verb++)
            str_addf(out, "%s%s", verb == CONTROL_NONE + 1 ? "" : " ", control_words[verb]);
}

/* ---- bash ---------------------------------------------------------------------------------------------- */

static void bash_values(struct str *out, const char *command, const struct option *options)
{
    for (const struct option *o = options; o && o->name; o++) {
        if (o->type == OPTION_FLAG)
            continue;
        str_addf(out, "    %s:--%s", command, o->name);
        if (o->letter)
            str_addf(out, " | %s:-%c", command, o->letter);
        str_puts(out, ") ");
        if (o->choices) {
            str_puts(out, "COMPREPLY=($(compgen -W '");
            add_choices(out, o->choices);
            str_puts(out, "' -- \"$cur\")); ");
        }
        str_puts(out, "return ;;\n");
    }
}

static void bash_names(struct str *out, const struct option *options)
{
    for (const struct option *o = options; o && o->name; o++)
        str_addf(out, " --%s", o->name);
}

static void bash_script(struct str *out)
{
    str_puts(out,
             "# bash completion of warplight:  source <(warplight completion bash)\n"
             "_warplight() {\n"
             "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} command= operands= i\n"
             "    for ((i = 1; i < COMP_CWORD; i++)); do\n"
             "        case ${COMP_WORDS[i]} in\n"
             "        ");
    for (size_t i = 0; commands[i]; i++)
        str_addf(out, "%s%s", i ? " | " : "", commands[i]->name);
    str_puts(out, ") command=${COMP_WORDS[i]}; break ;;\n        esac\n    done\n    COMPREPLY=()\n"
                  "    case $command:$prev in\n");
    for (size_t i = 0; commands[i]; i++)
        bash_values(out, commands[i]->name, commands[i]->options);
    bash_values(out, "*", global_options);
    str_puts(out, "    esac\n    local options='");
    bash_names(out, global_options);
    str_puts(out, "'\n    case $command in\n    '') operands='");
    add_commands(out);
    str_puts(out, "' ;;\n");
    for (size_t i = 0; commands[i]; i++) {
        str_addf(out, "    %s)\n        options+='", commands[i]->name);
        bash_names(out, commands[i]->options);
        str_puts(out, "'\n        operands='");
        add_operands(out, commands[i]->operand_kind);
        str_puts(out, "'\n        ;;\n");
    }
    str_puts(out, "    esac\n"
                  "    [[ $cur == -* ]] && operands=$options\n"
                  "    COMPREPLY=($(compgen -W \"$operands\" -- \"$cur\"))\n"
                  "}\n"
                  "complete -o default -F _warplight warplight\n");
}

/* ---- zsh ----------------------------------------------------------------------------------------------- */

static void zsh_options(struct str *out, const struct option *options)
{
    for (const struct option *o = options; o && o->name; o++) {
        const char *equals = o->type == OPTION_FLAG ? "" : "=";
        str_puts(out, "            ");
        if (o->letter)
            str_addf(out, "'(-%c --%s)'{-%c,--%s%s}'[", o->letter, o->name, o->letter, o->name, equals);
        else
            str_addf(out, "'--%s%s[", o->name, equals);
        add_help(out, o->help, "'[]:");
        str_puts(out, "]");
        if (o->type != OPTION_FLAG)
            str_addf(out, ":%s:", o->name);
        if (o->type == OPTION_FILE)
            str_puts(out, "_files");
        if (o->choices) {
            str_puts(out, "(");
            add_choices(out, o->choices);
            str_puts(out, ")");
        }
        str_puts(out, "' \\\n");
    }
}

static void zsh_script(struct str *out)
{
    str_puts(out, "#compdef warplight\n"
                  "# zsh completion of warplight:  warplight completion zsh >\"${fpath[1]}/_warplight\"\n"
                  "_warplight() {\n"
                  "    local curcontext=$curcontext state line\n"
                  "    local -a commands=(\n");
    for (size_t i = 0; commands[i]; i++) {
        str_addf(out, "        '%s:", commands[i]->name);
        add_help(out, commands[i]->summary, "':");
        str_puts(out, "'\n");
    }
    str_puts(out, "    )\n    _arguments -C \\\n");
    zsh_options(out, global_options);
    str_puts(out, "            '1:command:->command' '*::operand:->operand'\n"
                  "    case $state in\n"
                  "    command) _describe command commands ;;\n"
                  "    operand)\n        case $line[1] in\n");
    for (size_t i = 0; commands[i]; i++) {
        str_addf(out, "        %s)\n            _arguments \\\n", commands[i]->name);
        zsh_options(out, commands[i]->options);
        zsh_options(out, global_options);
        if (commands[i]->operand_kind == OPERAND_FILE) {
            str_puts(out, "            '*:file:_files' ;;\n");
        } else {
            str_puts(out, "            '1:operand:(");
            add_operands(out, commands[i]->operand_kind);
            str_puts(out, ")' ;;\n");
        }
    }
    str_puts(out, "        esac ;;\n    esac\n}\n_warplight \"$@\"\n");
}

/* ---- fish ---------------------------------------------------------------------------------------------- */

static void fish_options(struct str *out, const char *condition, const struct option *options)
{
    for (const struct option *o = options; o && o->name; o++) {
        str_addf(out, "complete -c warplight%s -l %s", condition, o->name);
        if (o->letter)
            str_addf(out, " -s %c", o->letter);
        if (o->type == OPTION_FILE)
            str_puts(out, " -r -F");
        else if (o->type != OPTION_FLAG)
            str_puts(out, " -x");
        if (o->choices) {
            str_puts(out, " -a '");
            add_choices(out, o->choices);
            str_puts(out, "'");
        }
        str_puts(out, " -d '");
        add_help(out, o->help, "'\\");
        str_puts(out, "'\n");
    }
}

static void fish_script(struct str *out)
{
    str_puts(out, "# fish completion of warplight:  warplight completion fish | source\n");
    for (size_t i = 0; commands[i]; i++) {
        str_addf(out, "complete -c warplight -n __fish_use_subcommand -f -a %s -d '", commands[i]->name);
        add_help(out, commands[i]->summary, "'\\");
        str_puts(out, "'\n");
    }
    fish_options(out, "", global_options);
    struct str condition = {0};
    for (size_t i = 0; commands[i]; i++) {
        str_cut(&condition, 0);
        str_addf(&condition, " -n '__fish_seen_subcommand_from %s'", commands[i]->name);
        fish_options(out, str_text(&condition), commands[i]->options);
        if (commands[i]->operand_kind == OPERAND_FILE || commands[i]->operand_kind == OPERAND_NONE)
            continue;
        str_addf(out, "complete -c warplight%s -f -a '", str_text(&condition));
        add_operands(out, commands[i]->operand_kind);
        str_puts(out, "'\n");
    }
    str_release(&condition);
}

/* ---- the command --------------------------------------------------------------------------------------- */

static const char *const shell_names[] = {"bash", "zsh", "fish", NULL};
static void (*const scripts[])(struct str *out) = {bash_script, zsh_script, fish_script};

static int run_completion(struct cli *cli, const void *args, struct err *err)
{
    (void)args;
    int shell = option_choice(shell_names, cli->operands[0]);
    if (shell < 0)
        return err_set(err, ERR_USAGE, NULL, -1, _("choose from bash, zsh, fish"),
                       _("there is no completion for '%s'"), cli->operands[0]);
    struct str script = {0};
    scripts[shell](&script);
    fwrite(script.ptr, 1, script.len, stdout);
    str_release(&script);
    return cli_check_output(stdout, _("standard output"), err);
}

static const struct example examples[] = {
    {"source <(warplight completion bash)", N_("in ~/.bashrc")},
    {"warplight completion zsh >\"${fpath[1]}/_warplight\"", N_("once, for zsh")},
    {"warplight completion fish >~/.config/fish/completions/warplight.fish", N_("once, for fish")},
    {NULL, NULL},
};

const struct command command_completion = {
    .name = "completion",
    .synopsis = N_("bash|zsh|fish"),
    .summary = N_("print a completion script for a shell"),
    .description =
        N_("Prints a script that lets the shell complete commands, options, their values and the names of "
           "findings."),
    .operand_kind = OPERAND_SHELL,
    .operands_min = 1,
    .operands_max = 1,
    .examples = examples,
    .run = run_completion,
};
