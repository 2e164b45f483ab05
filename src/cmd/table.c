#include "cmd/command.h"

#include <string.h>
#include <unistd.h>

#include "base/i18n.h"
#include "base/str.h"
#include "cmd/suggest.h"

extern const struct command command_top, command_record, command_ctl, command_sample, command_report,
    command_kernels, command_occupancy, command_doctor, command_explain, command_export, command_info,
    command_completion, command_help;

const struct command *const commands[] = {
    &command_record,    &command_ctl,
    &command_top,       &command_sample,
    &command_report,    &command_kernels,
    &command_occupancy, &command_doctor,
    &command_explain,   &command_export,
    &command_info,      &command_completion,
    &command_help,      NULL,
};

static const char *const color_names[] = {"auto", "always", "never", NULL};
static const char *const lang_names[] = {"en", "zh", NULL};

#define GLOBAL(field) offsetof(struct globals, field)

const struct option global_options[] = {
    {"help", 'h', OPTION_FLAG, NULL, N_("show this help"), GLOBAL(help), NULL},
    {"version", 'V', OPTION_FLAG, NULL, N_("show the version and what it was built with"), GLOBAL(version),
     NULL},
    {"lang", 0, OPTION_CHOICE, N_("LANG"),
     N_("language of text for people: en or zh (default: the locale's)"), GLOBAL(lang), lang_names},
    {"color", 0, OPTION_CHOICE, N_("WHEN"), N_("colour: auto, always or never (default: auto)"),
     GLOBAL(color), color_names},
    {"quiet", 'q', OPTION_FLAG, NULL, N_("no notes and no progress on standard error"), GLOBAL(quiet), NULL},
    {"no-progress", 0, OPTION_FLAG, NULL, N_("no progress on standard error"), GLOBAL(no_progress), NULL},
    OPTION_END,
};

const struct command *command_find(const char *name)
{
    for (size_t i = 0; commands[i]; i++)
        if (strcmp(commands[i]->name, name) == 0)
            return commands[i];
    return NULL;
}

int command_unknown(const char *name, struct err *err)
{
    struct suggestion best = {0};
    for (size_t i = 0; commands[i]; i++)
        suggest_offer(&best, name, commands[i]->name);
    struct str hint = {0};
    if (best.text)
        str_addf(&hint, _("did you mean '%s'?"), best.text);
    else if (access(name, F_OK) == 0)
        str_addf(&hint, _("to analyse that file: warplight report %s"), name);
    else
        str_puts(&hint, _("'warplight help' lists the commands"));
    int rc = err_set(err, ERR_USAGE, NULL, -1, str_text(&hint), _("there is no command '%s'"), name);
    str_release(&hint);
    return rc;
}

int command_missing(const struct command *command, struct err *err)
{
    struct str hint = {0};
    str_addf(&hint, _("usage: warplight %s %s"), command->name, _(command->synopsis));
    int rc = err_set(err, ERR_USAGE, NULL, -1, str_text(&hint),
                     command->stop_at_operand                ? _("no program given")
                     : command->operand_kind == OPERAND_FILE ? _("no file given")
                                                             : _("something is missing"));
    str_release(&hint);
    return rc;
}
