/* The integers that stand for processes, devices, threads and streams in a Chrome trace. pid and tid are the
 * row that a viewer draws an event in, so two things must never share one; where the true number is free it
 * is used, as torch.profiler does: the operating system's for the host, device index and stream for the GPU.
 */
#ifndef WARPLIGHT_EXPORT_CHROME_IDS_H
#define WARPLIGHT_EXPORT_CHROME_IDS_H

#include <stdint.h>

#include "export/lanes.h"
#include "model/run.h"

/* Rows beside the main one, for what overlaps. */
struct chrome_row {
    int64_t pid, tid;
    VEC(int64_t) lane_tids;
    struct lanes lanes;
};

struct chrome_ids {
    const struct run *run;
    int64_t *devices;           /* device index that args speak of, by run->devices */
    int64_t *device_pids;       /* by run->devices */
    int64_t *pids;              /* by run->processes */
    uint32_t *first_threads;    /* by run->processes: its first row of run->threads, or NONE */
    struct chrome_row *streams; /* by run->streams */
    struct chrome_row *threads; /* by run->threads */
    struct map rows;            /* pid and tid in use */
    int64_t next_tid;
};

void chrome_ids_init(struct chrome_ids *ids, const struct run *run);
void chrome_ids_release(struct chrome_ids *ids);
/* A tid that nothing else of that pid uses: the one asked for if it is free. */
int64_t chrome_ids_tid(struct chrome_ids *ids, int64_t pid, int64_t wanted);
/* The tid of a lane of the row. is_new tells that it was made now and wants a name. */
int64_t chrome_row_tid(struct chrome_ids *ids, struct chrome_row *row, uint32_t lane, bool *is_new);

#endif
