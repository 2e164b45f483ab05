/* Host spans that were put together from samples of a thread: operating-system calls, Python frames and
 * native functions.
 *
 * Their edges lie somewhere between two samples. What is exact — calls, ranges — knows better, so run_seal()
 * settles such spans against the exact ones of their thread:
 *
 * - An operating-system call is known from its first to its last sample, and can reach so many microseconds
 *   further on either side. It is stretched by that, up to the next edge of an API call: it lies within a
 * call or outside.
 * - A Python frame does not change during an API call that it makes: an edge that falls into one moves to the
 *   nearer end of the call.
 * - A native function is known from its first to its last sample, too, and is stretched likewise; what is
 *   known of the next function counts as much, so the time between two is shared if no call lies there. It
 *   gets what lies between calls; but if it was seen around the driver, the calls that it was seen in, since
 *   it makes those. Very short times between calls get none.
 * - A span that crosses the edge of an exact range is cut there; an operating-system call also where a frame
 *   begins or ends.
 *
 * Whether a span is one of these, and what else is known of it, is kept in its id, which otherwise means
 * nothing for these kinds. */
#ifndef WARPLIGHT_MODEL_SAMPLED_H
#define WARPLIGHT_MODEL_SAMPLED_H

#include "model/run.h"

#define SAMPLED_MARK (UINT64_C(1) << 63)
/* Of a native function that has been settled: a second time changes nothing. */
#define SAMPLED_SETTLED UINT64_MAX

enum { SAMPLED_FIELD_BITS = 31, SAMPLED_FIELD_MAX = INT32_MAX };

static inline uint64_t sampled_id_(uint64_t first, uint64_t second)
{
    first = first < SAMPLED_FIELD_MAX ? first : SAMPLED_FIELD_MAX;
    second = second < SAMPLED_FIELD_MAX ? second : SAMPLED_FIELD_MAX;
    return SAMPLED_MARK | first << SAMPLED_FIELD_BITS | second;
}

/* Ids of an operating-system call that can reach so many µs further, and of a Python frame that ran this line
 * in most samples that saw it innermost, called from that line of the frame around it (0: not known). */
static inline uint64_t sampled_call_id(int64_t before_us, int64_t after_us)
{
    return sampled_id_((uint64_t)max_ns(before_us, 0), (uint64_t)max_ns(after_us, 0));
}
static inline uint64_t sampled_frame_id(uint32_t line, uint32_t called_from)
{
    return sampled_id_(line, called_from);
}

/* Of a native function: how far it can reach, and whether it was seen around the CUDA driver. */
static inline uint64_t sampled_native_id(int64_t before_us, int64_t after_us, bool around_driver)
{
    uint64_t before = (uint64_t)max_ns(before_us, 0);
    before = before < SAMPLED_FIELD_MAX / 2 ? before : SAMPLED_FIELD_MAX / 2;
    return sampled_id_(before << 1 | around_driver, (uint64_t)max_ns(after_us, 0));
}

static inline bool span_is_sampled(const struct span_table *spans, size_t span)
{
    return (spans->kind[span] == SPAN_OS || spans->kind[span] == SPAN_PYTHON ||
            spans->kind[span] == SPAN_NATIVE) &&
           (spans->id[span] & SAMPLED_MARK) != 0;
}
static inline uint32_t sampled_first_(uint64_t id)
{
    return (uint32_t)(id >> SAMPLED_FIELD_BITS & SAMPLED_FIELD_MAX);
}
static inline uint32_t sampled_second_(uint64_t id)
{
    return (uint32_t)(id & SAMPLED_FIELD_MAX);
}
/* Lines of a sampled Python frame, 0 where they are not known or the span is none. */
static inline uint32_t sampled_line(const struct span_table *spans, size_t span)
{
    return span_is_sampled(spans, span) && spans->kind[span] == SPAN_PYTHON ? sampled_first_(spans->id[span])
                                                                            : 0;
}
static inline uint32_t sampled_called_from(const struct span_table *spans, size_t span)
{
    return span_is_sampled(spans, span) && spans->kind[span] == SPAN_PYTHON ? sampled_second_(spans->id[span])
                                                                            : 0;
}

/* Settles the sampled spans of one kind, SPAN_PYTHON first, then SPAN_NATIVE, then SPAN_OS. Spans are sorted
 * by (thread, start, end descending); afterwards they are not. Returns whether there were any. Part of
 * run_seal(). */
bool sampled_settle(struct run *run, enum span_kind kind);

#endif
