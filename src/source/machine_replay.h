/* Samples of a machine from a recording: what source/machine_series.h wrote becomes struct machine_sample
 * again, moment by moment. A recording of `record` has the counters of its GPUs, too, and plays as well,
 * without host and processes. */
#ifndef WARPLIGHT_SOURCE_MACHINE_REPLAY_H
#define WARPLIGHT_SOURCE_MACHINE_REPLAY_H

#include "model/machine.h"
#include "model/run.h"

struct machine_replay;

/* run is sealed and must outlive the result. NULL where it holds no counter of a GPU or host. */
struct machine_replay *machine_replay_open(const struct run *run);
void machine_replay_close(struct machine_replay *r);

size_t machine_replay_count(const struct machine_replay *r); /* of samples; at least 1 */
int64_t machine_replay_time(const struct machine_replay *r, size_t sample);
/* The sample that was last at or before a time; 0 before the first. */
size_t machine_replay_at(const struct machine_replay *r, int64_t time_ns);
/* The result is the replay's and good until the next call. */
const struct machine_sample *machine_replay_take(struct machine_replay *r, size_t sample);

#endif
