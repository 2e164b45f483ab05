/* Collector side of a ring: takes what the injected library of one process recorded and adds it to a run. */
#ifndef WARPLIGHT_SOURCE_CUPTI_RING_H
#define WARPLIGHT_SOURCE_CUPTI_RING_H

#include "source/cupti_records.h"

struct cupti_ring {
    struct ring *ring;
    int fd;                 /* of its file, which is open nowhere else in this process */
    char name[64];          /* of its file */
    bool told_whole_graphs; /* the run says that graphs were recorded whole */
    struct cupti_records records;
    int64_t dropped; /* so far booked as losses */
};

/* Maps the ring file of that name in a folder. Returns 0; or a negative code: not there yet (too short: try
 * again later), not a ring, another version. The run gets a new process, also where it has one with this pid:
 * pids are used again, and every PID namespace has its own. It is named after what runs under that pid. */
int cupti_ring_open(struct cupti_ring *r, struct run *run, uint32_t source, int folder, const char *name,
                    struct err *err);
/* Takes all FULL slots, and books what was dropped as losses. Returns how many records that were. */
int64_t cupti_ring_drain(struct cupti_ring *r, struct run *run);
/* Says what is wanted from now on (enum ring_wanted), and wakes the library. */
void cupti_ring_want(struct cupti_ring *r, enum ring_wanted wanted);
/* Does its library do what is wanted? True where it cannot be asked. */
bool cupti_ring_obeys(const struct cupti_ring *r);
/* Can the header be touched? Not after the target has cut the file. */
bool cupti_ring_is_whole(const struct cupti_ring *r);
/* Has its process ended, or become another program? Where the system cannot tell: false. */
bool cupti_ring_is_abandoned(const struct cupti_ring *r);
/* At the end: takes what was not handed over, too. */
void cupti_ring_finish(struct cupti_ring *r, struct run *run);
void cupti_ring_close(struct cupti_ring *r);

#endif
