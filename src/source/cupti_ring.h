/* Collector side of a ring: takes what the injected library of one process recorded and adds it to a run. */
#ifndef WARPLIGHT_SOURCE_CUPTI_RING_H
#define WARPLIGHT_SOURCE_CUPTI_RING_H

#include "capture/ring.h"
#include "model/run.h"

struct cupti_ring {
    struct ring *ring;
    uint32_t source, process; /* of the run */
    uint64_t text_read;       /* bytes of the text log that are known */
    struct map pointers;      /* address in the target → string id */
    struct map runtime_calls; /* callback id → string id */
    struct map driver_calls;
    struct map hashes;    /* key of an NVTX name → string id */
    uint32_t last_thread; /* look-up cache: tid of last_thread_id */
    uint32_t last_thread_id;
    int64_t shift_ns; /* added to CUPTI's times to get CLOCK_REALTIME; UNKNOWN until the first record */
    int64_t records;  /* decoded */
    int64_t unknown_records; /* of a kind or size that is not understood */
    bool taken_over;         /* another profiler in the process got CUPTI's buffers from some moment on */
    bool done;               /* its process is gone and everything was taken */
};

/* Maps the ring file at path. Returns 0; or a negative code: not there yet (too short: try again later), not
 * a ring, another version. The run's process is named after what runs under that pid. */
int cupti_ring_open(struct cupti_ring *r, struct run *run, uint32_t source, const char *path,
                    struct err *err);
/* Takes all FULL slots. Returns how many records that were. */
int64_t cupti_ring_drain(struct cupti_ring *r, struct run *run);
/* After the process has ended: takes what it had not handed over, too, and books what was dropped as losses.
 */
void cupti_ring_finish(struct cupti_ring *r, struct run *run);
void cupti_ring_close(struct cupti_ring *r);

#endif
