/* Where a thread of another process is in its code, each time that it has used so much CPU time: software
 * events of perf_event_open(2). The kernel takes the samples; nothing is added to the process.
 *
 * A sample holds the instruction and the top of the stack. Only code outside the kernel is sampled, which is
 * what kernel.perf_event_paranoid up to 2 allows for processes of the same user. */
#ifndef WARPLIGHT_SOURCE_PERF_SAMPLES_H
#define WARPLIGHT_SOURCE_PERF_SAMPLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PERF_STACK_BYTES = 2048 };

struct perf_thread {
    void *ring; /* NULL: not open. Memory that the kernel writes to */
    size_t ring_bytes, page_bytes;
};

struct perf_sample {
    int64_t time; /* ns, CLOCK_REALTIME */
    uint64_t instruction;
    size_t stack_words; /* from the top, as far as it could be read */
    uint64_t stack[PERF_STACK_BYTES / sizeof(uint64_t)];
};

enum perf_record {
    PERF_NOTHING, /* more comes later */
    PERF_SAMPLED,
    PERF_NEW_PROGRAM, /* execve(2): earlier mappings are gone */
};

/* Samples the thread with that id each period of its CPU time. Returns 0, or errno: EACCES or EPERM where the
 * system does not allow it, ENOSYS or ENOENT where it cannot. */
int perf_thread_open(struct perf_thread *t, uint32_t tid, int64_t period_ns);
void perf_thread_close(struct perf_thread *t);
/* Takes the oldest record. lost is increased by the samples that did not fit. */
enum perf_record perf_thread_next(struct perf_thread *t, struct perf_sample *out, int64_t *lost);

#endif
