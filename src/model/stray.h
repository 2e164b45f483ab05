/* Records at impossible times. */
#ifndef WARPLIGHT_MODEL_STRAY_H
#define WARPLIGHT_MODEL_STRAY_H

#include "model/run.h"

/* How far from the middle of a source's records one of them can lie in a run of so many records: at least
 * six days and at most four years. The fewer records, the further, so that in runs of up to 4,096 no sum of
 * durations can leave int64_t; in larger ones it takes thousands of records that span days each. */
int64_t stray_reach_ns(size_t records);
/* Takes out ops and spans that lie further away than that, which only damaged or made-up files hold, and
 * counts them as untimed. Part of run_seal(), before anything is sorted. */
void stray_drop(struct run *run);

#endif
