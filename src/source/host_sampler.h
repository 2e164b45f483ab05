/* Looks at the threads of recorded processes at a fixed rate, from outside and without stopping them: in
 * which system call they wait and on what file, whether they wait for a CPU, and on what Python stack they
 * are. What consecutive samples say is put together into spans (source/host_spans.h).
 *
 * Looking happens on a thread of its own, which never touches a run: spans and texts are handed over in
 * host_sampler_drain(), so that all other calls belong to one thread, the collector's. Where it falls behind
 * it leaves samples out; it never makes up for them. Nothing here fails: what may not be looked at is
 * missing, and host_sampler_failure() says why. */
#ifndef WARPLIGHT_SOURCE_HOST_SAMPLER_H
#define WARPLIGHT_SOURCE_HOST_SAMPLER_H

#include "model/compact.h"

enum { HOST_SAMPLING_MAX_HZ = 1000 };

struct host_sampler;

/* Starts sampling hz times a second (1 … HOST_SAMPLING_MAX_HZ); the period becomes a fact of the source. NULL
 * if no thread can be started. */
struct host_sampler *host_sampler_start(struct run *run, uint32_t source, int64_t hz);
/* Watches the main thread of a process of the run from now on. pid is its own word for it: only if that
 * process has mapped a file named mapped is it taken for the same. */
void host_sampler_watch_process(struct host_sampler *s, struct run *run, uint32_t process, int64_t pid,
                                const char *mapped);
/* Watches another thread (a row of the run) of a watched process. */
void host_sampler_watch_thread(struct host_sampler *s, uint32_t process, uint32_t thread, int64_t tid);
/* Ends the spans of a process that has ended. */
void host_sampler_forget_process(struct host_sampler *s, uint32_t process);
/* Looks at nobody, until it is told to go on. */
void host_sampler_pause(struct host_sampler *s, bool paused);
/* Adds the spans that are complete to the run. Returns how many. */
int64_t host_sampler_drain(struct host_sampler *s, struct run *run);
/* Keeps its names when the run is compacted (model/compact.h). */
void host_sampler_hold(struct host_sampler *s, const struct compaction *c);
/* Why something is missing: an English msgid, or NULL. */
const char *host_sampler_failure(struct host_sampler *s);
/* Ends all spans, adds them to the run, with what went wrong as repairs of the source, and frees the sampler.
 * Returns how many. s may be NULL, here alone; without a run, they are thrown away. */
int64_t host_sampler_finish(struct host_sampler *s, struct run *run);

#endif
