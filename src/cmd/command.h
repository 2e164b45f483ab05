/* The command table. To add a command: write src/cmd/NAME.c with a const struct command, add it to the table
 * in table.c and to meson.build, and add CLI tests and a manual page. */
#ifndef WARPLIGHT_CMD_COMMAND_H
#define WARPLIGHT_CMD_COMMAND_H

#include "base/err.h"
#include "cmd/options.h"
#include "view/screen.h"

enum color_mode { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER };

/* Options that every command takes. */
struct globals {
    bool help;
    bool version;
    bool quiet;
    bool no_progress;
    int color; /* enum color_mode */
    int lang;  /* index into the choices of --lang, or -1: from the environment */
};

extern const struct option global_options[];

/* What a command works with. */
struct cli {
    const struct command *command;
    struct globals globals;
    char **operands;
    int operand_count;
    int dashes; /* operands before "--"; -1: there is none */
};

struct example {
    const char *line;    /* runs as it stands, on the files that it names */
    const char *meaning; /* msgid */
};

struct exit_code {
    int code;
    const char *meaning; /* msgid */
};

enum operand_kind { OPERAND_NONE, OPERAND_FILE, OPERAND_COMMAND, OPERAND_PAGE, OPERAND_SHELL, OPERAND_VERB };

struct command {
    const char *name;
    const char *synopsis;    /* msgid: operands as the usage line shows them, or NULL */
    const char *summary;     /* msgid: one line, no full stop */
    const char *description; /* msgid: a paragraph or two */
    const struct option *options;
    const void *defaults; /* initial value of the struct that options fill */
    size_t defaults_size;
    enum operand_kind operand_kind;
    int operands_min, operands_max; /* max < 0: any number */
    bool stop_at_operand;
    const struct example *examples;     /* ends with line NULL */
    const struct exit_code *exit_codes; /* besides the common ones; ends with meaning NULL; may be NULL */
    const char *const *see_also;        /* NULL-terminated command names */
    /* args is a struct of defaults_size bytes. Returns an exit code, or fills err and returns its code. */
    int (*run)(struct cli *cli, const void *args, struct err *err);
};

/* NULL-terminated, in the order of the help. */
extern const struct command *const commands[];

const struct command *command_find(const char *name);
/* Fills err: no command NAME, did you mean …. */
int command_unknown(const char *name, struct err *err);
/* Fills err: an operand is missing. */
int command_missing(const struct command *command, struct err *err);

/* Prints the page of one command, and the overview. */
void help_command(struct screen *s, const struct command *command);
void help_overview(struct screen *s);
void version_print(struct screen *s);

/* A screen on out as the terminal, the environment and --color want it. */
void cli_screen(const struct cli *cli, struct screen *s, FILE *out);
/* Flushes the screen and releases it. Returns 0, or fills err when out could not be written (a closed pipe is
 * no error). name: what out is called in errors. */
int cli_screen_end(struct screen *s, const char *name, struct err *err);
/* Flushes out and checks that everything was written; same result. */
int cli_check_output(FILE *out, const char *name, struct err *err);
/* Whether out is a pipe that nobody reads any more: what goes on until it is ended has to ask. */
bool cli_reader_left(FILE *out);

#endif
