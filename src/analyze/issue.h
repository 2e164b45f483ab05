/* When each process issued GPU work or waited for it, and the overhead records of each source, indexed so
 * that a pass over all gaps in time order stays linear. */
#ifndef WARPLIGHT_ANALYZE_ISSUE_H
#define WARPLIGHT_ANALYZE_ISSUE_H

#include "analyze/host.h"

struct issue_list { /* API spans of one process that launch, copy, wait or allocate, by start */
    uint32_t *spans;
    uint32_t count;
    uint32_t cursor;
};

struct overhead_list { /* SPAN_OVERHEAD rows of one source that lie on a lane of their own, by start */
    uint32_t *spans;
    uint32_t count;
    uint32_t cursor;
};

struct issue_index {
    const struct run *run;
    struct host_names *names;
    struct issue_list *lists;        /* per process */
    struct overhead_list *overheads; /* per source */
    uint32_t *issued;                /* per thread: how many such calls it made */
    uint32_t *main_thread;           /* per process: the thread that made most; NONE */
    uint32_t *feeder;                /* per process: the busiest issuing thread's runner-up; NONE */
};

void issue_index_init(struct issue_index *index, const struct run *run, struct host_names *names);
void issue_index_release(struct issue_index *index);
/* Before starting again at an earlier time. */
void issue_rewind(struct issue_index *index);

/* End of the last such call of the process that ended by time; UNKNOWN: none. */
int64_t issue_before(struct issue_index *index, uint32_t process, int64_t time);
/* Whether the process waited for the GPU within its last few such calls before time: what it issues then
 * still meets a GPU that the wait had drained, and cannot have been issued ahead. */
bool issue_drained(struct issue_index *index, uint32_t process, int64_t time);

/* The thread of the process that issues most work; NONE if it has no thread that does. */
uint32_t issue_main_thread(const struct issue_index *index, uint32_t process);
/* The same, for the process with most ops on the device. */
uint32_t issue_main_thread_of_device(const struct issue_index *index, uint32_t device);
/* The thread that most probably feeds this one: another thread of its process that issues work. NONE if
 * alone. */
uint32_t issue_feeder(const struct issue_index *index, uint32_t thread);

struct overhead_hit {
    int64_t start, end; /* clipped to the range asked for; start = end = its end when there is none */
    uint32_t span;      /* NONE: none */
};
/* The first overhead record of the source that touches [start, end). */
struct overhead_hit issue_overhead(struct issue_index *index, uint32_t source, int64_t start, int64_t end);

#endif
