/* Kernels as binaries hold them: what one thread and one block take, what fits on an SM, what lies in local
 * memory and where, and which GPUs can run them. */
#ifndef WARPLIGHT_ANALYZE_CODES_H
#define WARPLIGHT_ANALYZE_CODES_H

#include "analyze/occupancy.h"
#include "analyze/report.h"

enum code_sort {
    CODE_SORT_NAME,
    CODE_SORT_REGISTERS,
    CODE_SORT_SHARED,
    CODE_SORT_STACK,
    CODE_SORT_SPILLS,
    CODE_SORT_OCCUPANCY, /* lowest first */
    CODE_SORT_SIZE,
};

struct code_options {
    const char *kernel; /* part of the name, or a pattern with * and ?; NULL: all */
    int32_t cc;         /* GPU that is asked about, 10 × major + minor; 0: none */
    int64_t block;      /* threads of a block; UNKNOWN: what the code says, else CODE_BLOCK_ASSUMED */
    int64_t shared;     /* dynamic shared memory of a block; UNKNOWN: what the code says, else 0 */
    enum code_sort sort;
};

enum { CODE_BLOCK_ASSUMED = 256 };

/* Fills codes, sites and, with options->cc, images of a zeroed report; release it with report_release(). */
void codes_build(struct report *report, const struct run *run, const struct code_options *options);
void codes_release(struct report *report);

/* Whether the code runs on a GPU of that compute capability. Sources: CUDA C++ Programming Guide 13.0,
 * "Binary Compatibility", "PTX Compatibility" and "Feature Sets". */
enum code_fit code_fit(const struct kernel_code *code, int32_t cc, enum code_reason *reason);
/* Why row->fit is FIT_NO; lives as long as the report. */
struct msg code_reason_msg(const struct code_row *row);
/* What the launch of a code takes, with the block size and its origin as in struct code_row. */
struct occupancy_launch code_launch(const struct kernel_code *code, const struct code_options *options,
                                    const char **block_origin);
/* Whether a name, mangled or not, is meant by pattern (struct code_options.kernel). */
bool code_matches(const char *name, const char *pattern);

#endif
