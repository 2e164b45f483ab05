/* Hand-built runs for unit tests. Each call adds one row and returns its index before run_seal(). */
#ifndef WARPLIGHT_TESTS_UNIT_MAKE_RUN_H
#define WARPLIGHT_TESTS_UNIT_MAKE_RUN_H

#include "model/run.h"

static inline uint32_t make_span(struct run *run, uint32_t thread, enum span_kind kind, const char *name,
                                 int64_t start, int64_t end, uint64_t id)
{
    size_t i = span_table_add(&run->spans);
    run->spans.comm[i] = NONE;
    run->spans.start[i] = start;
    run->spans.end[i] = end;
    run->spans.id[i] = id;
    run->spans.name[i] = intern_puts(&run->strings, name);
    run->spans.thread[i] = thread;
    run->spans.kind[i] = kind;
    return (uint32_t)i;
}

static inline uint32_t make_op(struct run *run, uint32_t stream, enum op_kind kind, const char *name,
                               int64_t start, int64_t end, uint64_t correlation)
{
    size_t i = op_table_add(&run->ops);
    run->ops.start[i] = start;
    run->ops.end[i] = end;
    run->ops.bytes[i] = UNKNOWN;
    run->ops.correlation[i] = correlation;
    run->ops.name[i] = intern_puts(&run->strings, name);
    run->ops.stream[i] = stream;
    run->ops.shape[i] = NONE;
    run->ops.call[i] = NONE;
    run->ops.comm[i] = NONE;
    run->ops.kind[i] = kind;
    return (uint32_t)i;
}

static inline uint32_t make_kernel(struct run *run, uint32_t stream, const char *name, int64_t start,
                                   int64_t end, uint64_t correlation)
{
    return make_op(run, stream, OP_KERNEL, name, start, end, correlation);
}

static inline uint32_t make_copy(struct run *run, uint32_t stream, enum copy_dir dir, enum mem_kind src,
                                 enum mem_kind dst, int64_t bytes, int64_t start, int64_t end,
                                 uint64_t correlation)
{
    uint32_t i = make_op(run, stream, OP_COPY, "memcpy", start, end, correlation);
    run->ops.bytes[i] = bytes;
    run->ops.dir[i] = dir;
    run->ops.src[i] = src;
    run->ops.dst[i] = dst;
    return i;
}

/* One source, process, thread, device and stream: what most tests need. */
struct make_run {
    struct run run;
    uint32_t source, process, thread, device, stream;
    uint64_t next_correlation;
};

static inline void make_run_init(struct make_run *made)
{
    run_init(&made->run);
    made->source = run_add_source(&made->run, "test", "made by hand");
    made->process = run_process(&made->run, made->source, 100);
    made->thread = run_thread(&made->run, made->process, 100);
    made->device = run_device(&made->run, made->source, 0);
    made->stream = run_stream(&made->run, made->process, made->device, 1, 7);
    made->next_correlation = 1;
}

/* A launch call and the kernel that it starts. */
static inline void make_launch(struct make_run *made, const char *kernel, int64_t call_start,
                               int64_t call_end, int64_t start, int64_t end)
{
    uint64_t correlation = made->next_correlation++;
    make_span(&made->run, made->thread, SPAN_API, "cudaLaunchKernel", call_start, call_end, correlation);
    make_kernel(&made->run, made->stream, kernel, start, end, correlation);
}

#endif
