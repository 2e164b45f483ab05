/* Typed option tables. One table per command says everything: parsing, --help and shell completion are
 * generated from it (the idea of git's parse-options). */
#ifndef WARPLIGHT_CMD_OPTIONS_H
#define WARPLIGHT_CMD_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum option_type {
    OPTION_FLAG,     /* bool: set to true */
    OPTION_COUNT,    /* int64_t: a whole number, not negative */
    OPTION_BYTES,    /* int64_t: "64", "64K", "64KiB", "2MiB"; powers of 1024 */
    OPTION_DURATION, /* int64_t ns: "1.5s", "20ms", "3us", "2min"; a bare number is seconds */
    OPTION_MOMENT,   /* struct moment: a duration, or a percentage of the run */
    OPTION_TEXT,     /* const char * */
    OPTION_FILE,     /* const char *: as text; completes to files */
    OPTION_CHOICE,   /* int: index into choices */
    OPTION_SET,      /* uint64_t: bit i for choices[i]; names separated by commas; may be repeated */
};

struct moment {
    bool given;
    bool is_share; /* of the run, else ns from its start */
    int64_t ns;
    double share;
};

struct option {
    const char *name; /* "format"; NULL ends a table */
    char letter;      /* 'f' or 0 */
    enum option_type type;
    const char *argument;       /* msgid of the placeholder in help, NULL for flags */
    const char *help;           /* msgid */
    size_t offset;              /* of the value in the struct that the table fills */
    const char *const *choices; /* NULL-terminated */
};

#define OPTION_END                                                                                           \
    {                                                                                                        \
        .name = NULL                                                                                         \
    }

/* Several tables can be active at once: a command's own and the global one. */
struct option_group {
    const struct option *options;
    void *values;
};

enum { OPTION_GROUPS = 2 };

struct parse {
    struct option_group groups[OPTION_GROUPS];
    bool
        stop_at_operand; /* options after the first operand belong to it ("record -- program --its-option") */
    /* results */
    char **operands; /* argv is reordered: the operands come first */
    int operand_count;
    int dashes; /* operands before "--"; -1: there is none */
};

/* Parses argv[0 … argc). Values may stand in "--name=value", "--name value", "-nvalue", "-n value"; flags may
 * be bundled; "--" ends the options; "-" alone is an operand. Returns 0 or ERR_USAGE with a hint that names
 * the nearest option or choice. */
int options_parse(struct parse *parse, int argc, char **argv, struct err *err);

/* The parsers of single values, for tests and for operands. Return false for anything but a whole, in-range
 * value. */
bool option_duration(const char *text, int64_t *ns);
bool option_bytes(const char *text, int64_t *bytes);
bool option_moment(const char *text, struct moment *moment);

/* Returns the index of text in choices, or -1. */
int option_choice(const char *const *choices, const char *text);

#endif
