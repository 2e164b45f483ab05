/* Retention: a run that is never sealed, of which only the last moments are kept, in bounded memory.
 *
 * A row is kept if it ends (a sample or mark: lies) within keep_ns of now. A call is kept as long as an op
 * that it or a later call of its process launched is kept, so that ops stay linked. Other spans and waits
 * that began before that lose their beginning: what surrounds the last moments must not make them look
 * longer. Ops keep their true times.
 *
 * The rows of ops, spans, samples, marks and waits take at most most_bytes; with more, the oldest go early,
 * counted as crowded. Tables grow by doubling, so up to twice as much may be reserved.
 *
 * What only rows that fell out used (strings, launch shapes, collectives) stays until it is as much as the
 * rest: then retain_is_bloated(), and model/compact.h is to drop it. Devices, processes, threads, streams and
 * counter series are never dropped. */
#ifndef WARPLIGHT_MODEL_RETAIN_H
#define WARPLIGHT_MODEL_RETAIN_H

#include "model/run.h"

enum { RETAIN_MOMENTS = 64 };

struct retain {
    int64_t keep_ns;
    int64_t most_bytes;
    int64_t cut_ns;  /* what ended before fell out; 0 at first */
    int64_t aged;    /* rows that fell out because of their age */
    int64_t crowded; /* … for want of space, or at a time that is yet to come */
    /* What was lost in all at some moments of the past, oldest first. */
    struct {
        int64_t time;
        struct losses losses;
    } past[RETAIN_MOMENTS];
    int moments;
    /* What the last compaction left. */
    uint64_t small_rows, text_bytes;
};

/* Drops what falls out at the time now. Rows keep their order. Linear in the rows: call it about every
 * second. */
void retain_prune(struct retain *retain, struct run *run, int64_t now);
/* Has what no row may use any more grown so much that compaction is worth its while? */
bool retain_is_bloated(const struct retain *retain, const struct run *run);
/* The run has been compacted. */
void retain_compacted(struct retain *retain, const struct run *run);
/* What was lost since about the cut, rather than ever. */
struct losses retain_losses(const struct retain *retain, const struct run *run);
/* Bytes of the rows of the run. */
int64_t retain_bytes(const struct run *run);

#endif
