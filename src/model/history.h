/* What devices did lately, in memory of a fixed size: the series that charts show. One point a sample. */
#ifndef WARPLIGHT_MODEL_HISTORY_H
#define WARPLIGHT_MODEL_HISTORY_H

#include "model/machine.h"

enum history_metric {
    HISTORY_SM,           /* SMs with a warp, in per mille */
    HISTORY_USE,          /* time with a kernel running, in per mille */
    HISTORY_MEMORY,       /* used, in per mille of all */
    HISTORY_POWER,        /* W */
    HISTORY_TEMPERATURE,  /* °C */
    HISTORY_CLOCK,        /* MHz */
    HISTORY_PCIE_RECEIVE, /* MB/s, as those below */
    HISTORY_PCIE_SEND,
    HISTORY_NVLINK_RECEIVE,
    HISTORY_NVLINK_SEND,
    HISTORY_METRICS
};

/* The memory is at most HISTORY_DEVICES tracks of 40 KiB. */
enum { HISTORY_POINTS = 1024, HISTORY_DEVICES = 128 };
#define HISTORY_GAP INT32_MIN /* not known at that moment */

struct history_track;

struct history {
    VEC(struct history_track *) tracks;
    size_t points; /* so far; the ring holds the last HISTORY_POINTS */
};

void history_push(struct history *h, const struct machine_sample *sample);
/* The last `count` values of a device, the newest last; gaps where there are none (any more). key: of struct
 * machine_device. */
void history_take(const struct history *h, const char *key, enum history_metric metric, int32_t *values,
                  int count);
/* Forgets everything. */
void history_clear(struct history *h);

#endif
