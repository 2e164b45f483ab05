/* The part of a run that a command looks at: --from, --to, --device, --step, --annotation. */
#ifndef WARPLIGHT_CMD_WINDOW_H
#define WARPLIGHT_CMD_WINDOW_H

#include "analyze/report.h"
#include "cmd/options.h"

struct window_args {
    struct moment from, to;
    int64_t device; /* the source's number; UNKNOWN: all */
    int64_t step;   /* from 1; UNKNOWN: all */
    const char *annotation;
};

#define WINDOW_ARGS_DEFAULT                                                                                  \
    {                                                                                                        \
        .device = UNKNOWN, .step = UNKNOWN                                                                   \
    }

/* Rows of an option table for a struct window_args that is the member `field` of `type`. */
#define WINDOW_OPTIONS(type, field)                                                                            \
    {"from",                                                                                                   \
     0,                                                                                                        \
     OPTION_MOMENT,                                                                                            \
     N_("TIME"),                                                                                               \
     N_("leave out what was before: 1.5s, 20ms, or 30% of the run"),                                           \
     offsetof(type, field.from),                                                                               \
     NULL},                                                                                                    \
        {"to", 0, OPTION_MOMENT, N_("TIME"), N_("leave out what came after"), offsetof(type, field.to), NULL}, \
        {"device",                                                                                             \
         'd',                                                                                                  \
         OPTION_COUNT,                                                                                         \
         N_("N"),                                                                                              \
         N_("only this GPU, as the recording numbers it"),                                                     \
         offsetof(type, field.device),                                                                         \
         NULL},                                                                                                \
        {"step",                                                                                               \
         0,                                                                                                    \
         OPTION_COUNT,                                                                                         \
         N_("N"),                                                                                              \
         N_("only step N, as --section steps numbers them"),                                                   \
         offsetof(type, field.step),                                                                           \
         NULL},                                                                                                \
    {                                                                                                          \
        "annotation", 0, OPTION_TEXT, N_("NAME[@N]"),                                                          \
            N_("only from the first to the last annotation (NVTX range, record_function) of that name, or "    \
               "its "                                                                                          \
               "Nth"),                                                                                         \
            offsetof(type, field.annotation), NULL                                                             \
    }

/* Turns what was asked for into a window on the clock of the sealed run. Returns 0, or ERR_USAGE when the run
 * has no such device, step or annotation. */
int window_resolve(struct report_options *options, const struct run *run, const struct window_args *args,
                   struct err *err);
/* The same, and builds the report of it. */
int window_report(struct report *report, const struct run *run, const struct window_args *args,
                  struct err *err);

#endif
