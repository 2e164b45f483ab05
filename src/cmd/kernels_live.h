/* kernels, live: measuring the kernels of a program that is started, and what that would cost. */
#ifndef WARPLIGHT_CMD_KERNELS_LIVE_H
#define WARPLIGHT_CMD_KERNELS_LIVE_H

#include "cmd/command.h"
#include "model/run.h"

struct live_options {
    const char *metrics; /* PerfWorks names, separated by commas; NULL: the usual ones */
    const char *chip;    /* of the plan; NULL: all */
    int64_t launches;    /* of each distinct kernel; 0: every one */
    bool deep;
    bool stalls; /* run the program a second time, with the warp sampler */
};

/* Runs the program (the operands of cli) and fills the run with what was measured, sealed. Says on standard
 * error why not everything was. exit_code gets the program's. */
int live_measure(struct run *run, const struct cli *cli, const struct live_options *options, int *exit_code,
                 struct err *err);
/* Prints passes and cost for each chip, as text or JSON, without running anything. */
int live_plan(const struct cli *cli, FILE *out, const struct live_options *options, bool json,
              struct err *err);

#endif
